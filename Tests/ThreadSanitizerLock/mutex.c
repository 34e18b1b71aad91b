// Makes the thread sanitizer see `Synchronization.Mutex` on Linux.
//
// The fast path of the mutex is compiled into its callers, with the sanitizer's instrumentation. The slow path, for a
// mutex that another thread holds, rests in the standard library, which is not instrumented: the sanitizer then misses
// that one critical section happens before the next, and reports every contended mutex as a race. In a sanitized
// test bundle or command this definition of the slow path takes precedence. It spins, so it never leaves waiters in the word, and
// unlocking always takes the fast path.

#if defined(__linux__) && __has_feature(thread_sanitizer)

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

// Synchronization._MutexHandle._lockSlow(_: UInt32): the argument is the caller's thread, `self` the word to put it in.
__attribute__((swiftcall)) void handshake_mutex_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void handshake_mutex_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word)
{
    uint32_t expected = 0;
    while (!atomic_compare_exchange_weak_explicit(
        word, &expected, thread, memory_order_acquire, memory_order_relaxed)) {
        expected = 0;
        sched_yield();
    }
}

#endif
