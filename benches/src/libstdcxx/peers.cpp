// What libstdc++ has of what is measured, with C linkage.
//
// An object lives on the heap, at an address of its own, and is alone on its cache lines. What is so short that a call from
// another language would count is done here as a whole, on the stack, as it is by users of C++.

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <latch>
#include <semaphore>
#include <utility>

#ifndef __GLIBCXX__
#error "a standard library other than libstdc++"
#endif

namespace {

// Processors fetch cache lines in pairs.
constexpr std::size_t two_cache_lines = 128;

template <typename Inner> struct alignas(two_cache_lines) padded {
    template <typename... Arguments> explicit padded(Arguments &&...arguments) : inner(std::forward<Arguments>(arguments)...) {}

    Inner inner;
};

using semaphore = padded<std::counting_semaphore<>>;
using barrier = padded<std::barrier<>>;
using latch = padded<std::latch>;
using promise = std::promise<std::uint64_t>;
using future = padded<std::future<std::uint64_t>>;

using nanoseconds = std::chrono::nanoseconds;

// Takes the value for one that anybody may have looked at and changed.
template <typename Value> inline void make_opaque(Value &value) {
    asm volatile("" : : "r"(&value) : "memory");
}

// The same pointer, of unknown origin.
template <typename Value> inline Value *opaque(Value *pointer) {
    asm volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

// Calls `call` with the bytes of an atomic of another language, as the integer of that width.
template <typename Call> void with_bytes(void *atomic, std::size_t width, Call call) {
    switch (width) {
    case 1:
        return call(static_cast<std::uint8_t *>(atomic));
    case 2:
        return call(static_cast<std::uint16_t *>(atomic));
    case 4:
        return call(static_cast<std::uint32_t *>(atomic));
    case 8:
        return call(static_cast<std::uint64_t *>(atomic));
    default:
        std::abort();
    }
}

template <typename Clock> typename Clock::time_point moment(std::int64_t since_epoch) {
    return typename Clock::time_point(std::chrono::duration_cast<typename Clock::duration>(nanoseconds(since_epoch)));
}

// Calls `wait` with the moment on the clock that it is on.
template <typename Wait> auto until(bool wall, std::int64_t since_epoch, Wait wait) {
    return wall ? wait(moment<std::chrono::system_clock>(since_epoch)) : wait(moment<std::chrono::steady_clock>(since_epoch));
}

} // namespace

#define TO_STRING(token) #token
#define VALUE_TO_STRING(macro) TO_STRING(macro)

// No exception gets through to callers, who do not know what that is: each would end the process.
extern "C" {

const char *libstdcxx_version() noexcept {
    return "libstdc++ " VALUE_TO_STRING(_GLIBCXX_RELEASE) ", compiler " __VERSION__;
}

semaphore *libstdcxx_semaphore_new(std::ptrdiff_t permits) noexcept {
    return new semaphore(permits);
}

void libstdcxx_semaphore_delete(semaphore *it) noexcept {
    delete it;
}

void libstdcxx_semaphore_acquire(semaphore *it) noexcept {
    it->inner.acquire();
}

bool libstdcxx_semaphore_try_acquire(semaphore *it) noexcept {
    return it->inner.try_acquire();
}

bool libstdcxx_semaphore_try_acquire_for(semaphore *it, std::int64_t timeout) noexcept {
    return it->inner.try_acquire_for(nanoseconds(timeout));
}

bool libstdcxx_semaphore_try_acquire_until(semaphore *it, bool wall, std::int64_t deadline) noexcept {
    return until(wall, deadline, [it](auto moment) { return it->inner.try_acquire_until(moment); });
}

void libstdcxx_semaphore_release(semaphore *it) noexcept {
    it->inner.release();
}

barrier *libstdcxx_barrier_new(std::ptrdiff_t parties) noexcept {
    return new barrier(parties);
}

void libstdcxx_barrier_delete(barrier *it) noexcept {
    delete it;
}

void libstdcxx_barrier_wait(barrier *it, std::uint64_t times) noexcept {
    for (; times != 0; --times) {
        it->inner.arrive_and_wait();
    }
}

latch *libstdcxx_latch_new(std::ptrdiff_t count) noexcept {
    return new latch(count);
}

void libstdcxx_latch_delete(latch *it) noexcept {
    delete it;
}

void libstdcxx_latch_count_down(latch *it) noexcept {
    it->inner.count_down();
}

void libstdcxx_latch_wait(latch *it) noexcept {
    it->inner.wait();
}

void libstdcxx_latch_count_down_and_wait() noexcept {
    std::latch latch(1);
    make_opaque(latch);
    latch.count_down();
    latch.wait();
}

promise *libstdcxx_promise_new() noexcept {
    return new promise;
}

future *libstdcxx_promise_get_future(promise *it) noexcept {
    return new future(it->get_future());
}

void libstdcxx_promise_delete(promise *it) noexcept {
    delete it;
}

void libstdcxx_promise_set_value(promise *it, std::uint64_t value) noexcept {
    it->set_value(value);
}

void libstdcxx_future_delete(future *it) noexcept {
    delete it;
}

std::uint64_t libstdcxx_future_get(future *it) noexcept {
    return it->inner.get();
}

bool libstdcxx_future_wait_for(future *it, std::int64_t timeout) noexcept {
    return it->inner.wait_for(nanoseconds(timeout)) == std::future_status::ready;
}

bool libstdcxx_future_wait_until(future *it, bool wall, std::int64_t deadline) noexcept {
    return until(wall, deadline, [it](auto moment) { return it->inner.wait_until(moment) == std::future_status::ready; });
}

std::uint64_t libstdcxx_promise_and_future(std::uint64_t value) noexcept {
    promise sender;
    auto receiver = sender.get_future();
    sender.set_value(value);
    make_opaque(receiver);
    return receiver.get();
}

// The promise goes first.
void libstdcxx_promise_and_future_unused() noexcept {
    std::future<std::uint64_t> receiver;
    promise sender;
    receiver = sender.get_future();
    make_opaque(receiver);
}

void libstdcxx_atomic_store(void *it, std::size_t width, bool value) noexcept {
    with_bytes(it, width, [=](auto *bytes) { std::atomic_ref(*bytes).store(value); });
}

void libstdcxx_atomic_wait(void *it, std::size_t width, bool old) noexcept {
    with_bytes(it, width, [=](auto *bytes) { std::atomic_ref(*bytes).wait(old); });
}

void libstdcxx_atomic_wait_times(void *it, std::size_t width, bool old, std::uint64_t times) noexcept {
    with_bytes(it, width, [=](auto *bytes) {
        for (auto left = times; left != 0; --left) {
            std::atomic_ref(*opaque(bytes)).wait(old);
        }
    });
}

void libstdcxx_atomic_notify_one_times(void *it, std::size_t width, std::uint64_t times) noexcept {
    with_bytes(it, width, [=](auto *bytes) {
        for (auto left = times; left != 0; --left) {
            std::atomic_ref(*opaque(bytes)).notify_one();
        }
    });
}

void libstdcxx_atomic_notify_all_times(void *it, std::size_t width, std::uint64_t times) noexcept {
    with_bytes(it, width, [=](auto *bytes) {
        for (auto left = times; left != 0; --left) {
            std::atomic_ref(*opaque(bytes)).notify_all();
        }
    });
}

void libstdcxx_atomic_serve(void *it, std::size_t width, std::uint64_t times) noexcept {
    with_bytes(it, width, [=](auto *bytes) {
        std::atomic_ref atomic(*bytes);
        for (auto left = times; left != 0; --left) {
            atomic.store(true);
            atomic.notify_one();
            atomic.wait(true);
        }
    });
}

void libstdcxx_atomic_reply(void *it, std::size_t width, std::uint64_t times) noexcept {
    with_bytes(it, width, [=](auto *bytes) {
        std::atomic_ref atomic(*bytes);
        for (auto left = times; left != 0; --left) {
            atomic.wait(false);
            atomic.store(false);
            atomic.notify_one();
        }
    });
}

} // extern "C"
