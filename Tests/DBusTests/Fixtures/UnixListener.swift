import Foundation
import TestFixtures
import Testing

@testable import DBus

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A Unix socket in a folder of its own, which takes connections on a thread of its own.
final class UnixListener: Sendable {
    let address: Address
    private let folder: TemporaryFolder
    private let descriptor: CInt
    private let connections: AsyncStream<CInt>

    init() throws {
        #if canImport(Glibc)
        let kind = CInt(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        folder = try TemporaryFolder()
        let path = folder.path + "/bus"
        address = Address(.path(path))
        let descriptor = socket(AF_UNIX, kind, 0)
        self.descriptor = descriptor
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8) + [0]
        try #require(bytes.count <= MemoryLayout.size(ofValue: name.sun_path))
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isListening = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 4) == 0
            }
        }
        let (stream, continuation) = AsyncStream.makeStream(of: CInt.self)
        connections = stream
        try #require(isListening)
        Thread.detachNewThread {
            while true {
                let connection = systemAccept(descriptor)
                guard connection >= 0 else { break }
                continuation.yield(connection)
            }
            continuation.finish()
        }
    }

    deinit {
        _ = shutdown(descriptor, CInt(SHUT_RDWR))
        _ = systemClose(descriptor)
    }

    /// The next connection.
    func accept() async throws -> ScriptedPeer {
        var iterator = connections.makeAsyncIterator()
        return try ScriptedPeer(owning: try #require(await iterator.next()))
    }
}

/// The system's function under a name that the method does not hide.
private func systemAccept(_ descriptor: CInt) -> CInt { accept(descriptor, nil, nil) }
