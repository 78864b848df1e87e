//! Conway's Game of Life on a torus, by threads that meet after each generation. A glider moves by one cell down and right
//! in four generations, so after 4 × 16 it has to be back on a torus of 16 × 16.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use waitline::Barrier;

const SIZE: usize = 16;
const GENERATIONS: usize = 4 * SIZE;
const THREADS: usize = 4;
const GLIDER: [(usize, usize); 5] = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)];

/// Relaxed, because the barrier orders everything between generations.
type Board = [[AtomicBool; SIZE]; SIZE];

fn cells(board: &Board) -> Vec<(usize, usize)> {
    let all = (0..SIZE).flat_map(|row| (0..SIZE).map(move |column| (row, column)));
    all.filter(|&(row, column)| board[row][column].load(Relaxed)).collect()
}

fn lives_on(board: &Board, row: usize, column: usize) -> bool {
    let around = [SIZE - 1, 0, 1];
    let place = |down: usize, right: usize| &board[(row + down) % SIZE][(column + right) % SIZE];
    let block = around.iter().flat_map(|&down| around.map(|right| place(down, right)));
    match block.filter(|cell| cell.load(Relaxed)).count() {
        3 => true, // with itself, or without
        4 => board[row][column].load(Relaxed),
        _ => false,
    }
}

fn main() {
    let boards: [Board; 2] = Default::default(); // of even generations, and of odd ones
    GLIDER.iter().for_each(|&(row, column)| boards[0][row][column].store(true, Relaxed));
    let generation = AtomicUsize::new(0);
    // Nobody else runs while this does.
    let generation_is_over = Barrier::with_completion(THREADS, || {
        let now = generation.fetch_add(1, Relaxed) + 1;
        assert_eq!(cells(&boards[now % 2]).len(), GLIDER.len(), "a glider has five cells in each generation");
    });
    thread::scope(|scope| {
        for rows in (0..SIZE).collect::<Vec<_>>().chunks(SIZE / THREADS) {
            let (rows, boards, generation_is_over) = (rows.to_vec(), &boards, &generation_is_over);
            scope.spawn(move || {
                for generation in 0..GENERATIONS {
                    let [now, next] = [generation, generation + 1].map(|generation| &boards[generation % 2]);
                    for (&row, column) in rows.iter().flat_map(|row| (0..SIZE).map(move |column| (row, column))) {
                        next[row][column].store(lives_on(now, row, column), Relaxed);
                    }
                    generation_is_over.wait();
                }
            });
        }
    });
    assert_eq!(cells(&boards[0]), GLIDER);
    println!("after {} generations the glider is back", generation.load(Relaxed));
}
