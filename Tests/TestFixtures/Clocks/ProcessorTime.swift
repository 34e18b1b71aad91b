#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The processor time that `body` takes on this thread, which other tests and a busy machine add nothing to.
package func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
    let start = now()
    try body()
    return now() - start
}

/// The processor time that a process has used; nil when it has ended.
package func processorTime(of process: Int32) -> Duration? {
    #if canImport(Darwin)
    var usage = rusage_info_v0()
    let status = withUnsafeMutablePointer(to: &usage) { pointer in
        pointer.withMemoryRebound(to: rusage_info_t?.self, capacity: 1) {
            proc_pid_rusage(process, RUSAGE_INFO_V0, $0)
        }
    }
    return status == 0 ? .nanoseconds(Int64(clamping: usage.ri_user_time + usage.ri_system_time)) : nil
    #else
    var (clock, time) = (clockid_t(), timespec())
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    #endif
}
