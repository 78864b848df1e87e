//! One bucket's waiters: a queue for each address, in order of arrival.
//!
//! A queue is a ring of the nodes that wait for one address, so that its first node also knows the last. The first nodes of all
//! queues make up one more list. So a node is linked, found and unlinked without a look at the others that wait for the same
//! address, and only the number of addresses in the bucket counts.

#![allow(unsafe_code, reason = "nodes live on the stacks of threads that wait")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "all of a block's rest on the same two facts")]

use core::ptr;

use super::table::Node;
use crate::atomic::const_fn;

/// Guarded by the bucket's lock, and so are the links of every node in it.
pub(super) struct Queues {
    first: *const Node,
    /// How many nodes were ever linked here.
    arrivals: u64,
}

/// A node's place.
#[derive(Clone, Copy)]
pub(super) struct Links {
    next: *const Node,
    previous: *const Node,
    /// Whether the node is the first of its queue. Then it is in the list of those, too.
    is_first: bool,
    next_first: *const Node,
    previous_first: *const Node,
    arrival: u64,
}

impl Links {
    pub(super) const NONE: Links = Links {
        next: ptr::null(),
        previous: ptr::null(),
        is_first: false,
        next_first: ptr::null(),
        previous_first: ptr::null(),
        arrival: 0,
    };
}

impl Queues {
    const_fn! {
        pub(super) const fn new() -> Queues {
            Queues { first: ptr::null(), arrivals: 0 }
        }
    }

    /// How many nodes were ever linked here: those that come later have a greater number.
    pub(super) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Links the node as the last one that waits for its address.
    ///
    /// # Safety
    ///
    /// The caller holds the bucket's lock. The node is not linked, and lives and stays where it is until it is not linked any
    /// more.
    pub(super) unsafe fn push(&mut self, node: *const Node) {
        self.arrivals += 1;
        let alone = Links { next: node, previous: node, is_first: true, arrival: self.arrivals, ..Links::NONE };
        // SAFETY: all nodes here are linked, and so alive, and the caller holds the lock that guards their links.
        unsafe {
            match self.first_of((*node).address()) {
                None => {
                    set(node, Links { next_first: self.first, ..alone });
                    if !self.first.is_null() {
                        edit(self.first, |links| links.previous_first = node);
                    }
                    self.first = node;
                }
                Some(first) => {
                    let last = get(first).previous;
                    set(node, Links { next: first, previous: last, is_first: false, ..alone });
                    edit(last, |links| links.next = node);
                    edit(first, |links| links.previous = node);
                }
            }
        }
    }

    /// Unlinks the node.
    ///
    /// # Safety
    ///
    /// The caller holds the bucket's lock, and the node is linked.
    pub(super) unsafe fn remove(&mut self, node: *const Node) {
        // SAFETY: all nodes here are linked, and so alive, and the caller holds the lock that guards their links.
        unsafe {
            let Links { next, previous, is_first, next_first, previous_first, .. } = get(node);
            edit(previous, |links| links.next = next);
            edit(next, |links| links.previous = previous);
            if !is_first {
                return;
            }
            // The next one takes its place in the list of first nodes, if there is one.
            let (before, after) = if next == node {
                (next_first, previous_first)
            } else {
                edit(next, |links| *links = Links { is_first, next_first, previous_first, ..*links });
                (next, next)
            };
            match previous_first.is_null() {
                true => self.first = before,
                false => edit(previous_first, |links| links.next_first = before),
            }
            if !next_first.is_null() {
                edit(next_first, |links| links.previous_first = after);
            }
        }
    }

    /// Unlinks and returns the node that has waited longest for the address, of those that arrived by then.
    ///
    /// # Safety
    ///
    /// The caller holds the bucket's lock.
    pub(super) unsafe fn pop(&mut self, address: usize, arrived_by: u64) -> Option<*const Node> {
        // SAFETY: all nodes here are linked, and so alive, and the caller holds the lock that guards their links.
        unsafe {
            let first = self.first_of(address)?;
            if get(first).arrival > arrived_by {
                return None;
            }
            self.remove(first);
            Some(first)
        }
    }

    /// # Safety
    ///
    /// The caller holds the bucket's lock.
    unsafe fn first_of(&self, address: usize) -> Option<*const Node> {
        let mut first = self.first;
        while !first.is_null() {
            // SAFETY: it is linked, and so alive, and the caller holds the lock that guards its links.
            unsafe {
                if (*first).address() == address {
                    return Some(first);
                }
                first = get(first).next_first;
            }
        }
        None
    }
}

/// # Safety
///
/// The node is alive, and the caller holds the lock that guards its links.
unsafe fn edit(node: *const Node, change: impl FnOnce(&mut Links)) {
    // SAFETY: by the caller's promise.
    let links = unsafe { (*node).links() };
    // SAFETY: nobody else accesses them, by the caller's promise, and `change` accesses no other node.
    links.with_mut(|links| change(unsafe { &mut *links }));
}

/// # Safety
///
/// As for `edit`.
unsafe fn get(node: *const Node) -> Links {
    // SAFETY: by the caller's promise.
    let links = unsafe { (*node).links() };
    // SAFETY: nobody else accesses them, by the caller's promise.
    links.with(|links| unsafe { *links })
}

/// # Safety
///
/// As for `edit`.
unsafe fn set(node: *const Node, new: Links) {
    // SAFETY: by the caller's promise.
    unsafe { edit(node, |links| *links = new) };
}
