//! Downloads forty files, four at a time, with one deadline for all. The server is a part of the program: it answers once
//! four have asked, and sends a fifth one nothing.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use waitline::{Barrier, Deadline, Semaphore};

const AT_A_TIME: usize = 4;
const FILES: usize = 40; // a multiple of those, since the server waits until so many ask
const CONTENT: &str = "content\n";

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || serve(&listener));
    let connections = Semaphore::new(AT_A_TIME);
    let deadline = Deadline::after(Duration::from_secs(60));
    let bytes = thread::scope(|scope| {
        let download = |number: usize| {
            let connection = connections.try_acquire_permit_until(deadline).ok_or("the time is up")?;
            Ok(scope.spawn(move || {
                let _until_it_is_read = connection;
                let request = minreq::get(format!("http://{address}/{number}"));
                let left = deadline.remaining().unwrap_or_default();
                request.with_timeout(left.as_secs() + 1).send().map(|response| response.as_bytes().len())
            }))
        };
        let downloads: Vec<_> = (0..FILES).map(download).collect::<Result<_, &str>>()?;
        downloads.into_iter().map(|download| Ok(download.join().unwrap()?)).sum::<Result<usize, Box<dyn Error>>>()
    })?;
    assert_eq!(bytes, FILES * CONTENT.len(), "the server saw a fifth one");
    println!("{FILES} files, {bytes} bytes, {AT_A_TIME} at a time");
    Ok(())
}

fn serve(listener: &TcpListener) {
    let (open, all_ask) = (AtomicUsize::new(0), Barrier::new(AT_A_TIME));
    thread::scope(|scope| {
        for stream in listener.incoming().map_while(Result::ok) {
            let (open, all_ask) = (&open, &all_ask);
            scope.spawn(move || {
                let too_many = open.fetch_add(1, Relaxed) >= AT_A_TIME;
                all_ask.wait();
                open.fetch_sub(1, Relaxed);
                answer(&stream, if too_many { "" } else { CONTENT })
            });
        }
    });
}

fn answer(mut stream: &TcpStream, content: &str) -> std::io::Result<()> {
    BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{content}", content.len())
}
