// What the sources use of Darwin and Linux's C library has not, declared as Darwin's headers do.
@_exported public import Glibc

// swift-format-ignore: AlwaysUseLowerCamelCase
public var SO_NOSIGPIPE: Int32 { 0x1022 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var F_FULLFSYNC: Int32 { 51 }
// The check writes them so: in Glibc `SOCK_STREAM` and `SOCK_DGRAM` have another type.
// swift-format-ignore: AlwaysUseLowerCamelCase
public var darwin_SOCK_STREAM: Int32 { 1 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var darwin_SOCK_DGRAM: Int32 { 2 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func memset_s(
    _ bytes: UnsafeMutableRawPointer?, _ size: Int, _ value: Int32, _ count: Int
) -> Int32 { 0 }

// On Darwin these types are pointers, which begin as nil.
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawn_file_actions_init(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawn_file_actions_destroy(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawn_file_actions_addopen(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ descriptor: Int32, _ path: UnsafePointer<CChar>,
    _ flags: Int32, _ mode: mode_t
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawn_file_actions_adddup2(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ descriptor: Int32, _ other: Int32
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawnattr_init(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawnattr_destroy(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawnattr_setsigmask(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ signals: UnsafePointer<sigset_t>
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawnattr_setsigdefault(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ signals: UnsafePointer<sigset_t>
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func posix_spawnattr_setflags(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ flags: Int16
) -> Int32 { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public func posix_spawnp(
    _ process: UnsafeMutablePointer<pid_t>, _ program: UnsafePointer<CChar>,
    _ actions: UnsafePointer<posix_spawn_file_actions_t?>, _ attributes: UnsafePointer<posix_spawnattr_t?>,
    _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>, _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { 0 }
