// What the sources use of Darwin and Linux's C library has not, declared as Darwin's headers do.
@_exported public import Glibc

// swift-format-ignore: AlwaysUseLowerCamelCase
public var SO_NOSIGPIPE: Int32 { 0x1022 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var F_FULLFSYNC: Int32 { 51 }
// The check writes it so: in Glibc `SOCK_STREAM` has another type.
// swift-format-ignore: AlwaysUseLowerCamelCase
public var darwin_SOCK_STREAM: Int32 { 1 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func memset_s(
    _ bytes: UnsafeMutableRawPointer?, _ size: Int, _ value: Int32, _ count: Int
) -> Int32 { 0 }
