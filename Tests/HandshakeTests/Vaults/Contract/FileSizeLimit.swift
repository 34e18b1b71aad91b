#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

#if os(Linux) || os(macOS)
/// Lets the files of this process grow to a size in bytes and no further, as on a full disk.
func limitFileSize(to size: rlim_t) {
    var limit = rlimit()
    #if os(Linux)
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
    let resource = RLIMIT_FSIZE
    #endif
    getrlimit(resource, &limit)
    limit.rlim_cur = min(size, limit.rlim_max)
    setrlimit(resource, &limit)
}
#endif
