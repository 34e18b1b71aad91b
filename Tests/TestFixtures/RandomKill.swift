import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Kills this process at a random point of what its other threads do: when a thread has counted to a random number.
///
/// The number, not a time, decides, so that a slow machine is killed at the same points as a fast one.
package func killAtRandom(countingUpTo limit: Int) {
    Thread.detachNewThread {
        let count = Atomic(0)
        let last = Int.random(in: 0...limit)
        while count.add(1, ordering: .relaxed).newValue < last {}
        kill(getpid(), SIGKILL)
    }
}
