import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A connected socket with a thread of its own, which sleeps in `poll`.
///
/// A thread instead of a dispatch source: a single owner reads, writes and closes the socket, bytes are passed on in order
/// without another queue, and no descriptor is closed while another thread polls it. No thread of the cooperative pool ever
/// waits for the socket. A class, because it owns descriptors.
final class ByteStream: Sendable {
    private struct Outgoing {
        private var bytes: [UInt8] = []
        /// How many of ``bytes`` are sent. They are removed in large steps, so that a large message is not moved for each
        /// partial write.
        private var sent = 0
        var isClosed = false

        var count: Int { bytes.count - sent }
        var rest: ArraySlice<UInt8> { bytes[sent...] }

        mutating func append(_ more: [UInt8]) {
            bytes.append(contentsOf: more)
        }

        mutating func remove(_ count: Int) {
            sent += count
            guard sent * 2 >= bytes.count else { return }
            bytes.removeFirst(sent)
            sent = 0
        }
    }

    private let descriptor: CInt
    private let wakeReceiver: CInt
    private let wakeSender: CInt
    private let outgoing = Mutex(Outgoing())
    private let outgoingLimit: Int

    /// Takes over a connected socket. More than `outgoingLimit` unsent bytes are an error.
    init(owning descriptor: CInt, outgoingLimit: Int = Message.maximumLength) throws(DBusError) {
        var ends: [CInt] = [-1, -1]
        guard SystemSocket.prepare(descriptor), pipe(&ends) == 0 else {
            let error = errno
            _ = systemClose(descriptor)
            throw .connectionLost(reason: SystemSocket.reason(error))
        }
        for end in ends { _ = SystemSocket.prepare(end) }
        self.descriptor = descriptor
        self.outgoingLimit = outgoingLimit
        wakeReceiver = ends[0]
        wakeSender = ends[1]
    }

    deinit {
        for descriptor in [descriptor, wakeReceiver, wakeSender] { _ = systemClose(descriptor) }
    }

    /// Starts the thread, which calls both closures: `received` for each chunk, `ended` once at the end. The stream lives
    /// until then; only ``close()`` or the peer ends it.
    func start(received: @escaping @Sendable ([UInt8]) -> Void, ended: @escaping @Sendable (String) -> Void) {
        Thread.detachNewThread { [self] in
            let reason = run(received)
            close()
            _ = shutdown(descriptor, CInt(SHUT_RDWR))
            ended(reason)
        }
    }

    /// Queues bytes; they are sent in the order of the calls.
    ///
    /// - Throws: ``DBusError/tooLarge(what:limit:)`` when the peer reads too slowly.
    func send(_ bytes: [UInt8]) throws(DBusError) {
        let isTaken = outgoing.withLock { outgoing in
            guard outgoing.count + bytes.count <= outgoingLimit else { return false }
            if !outgoing.isClosed { outgoing.append(bytes) }
            return true
        }
        guard isTaken else { throw .tooLarge(what: "the queue of data for the bus", limit: outgoingLimit) }
        wake()
    }

    /// Closes the stream after sending what can be sent without waiting. Idempotent.
    func close() {
        outgoing.withLock { $0.isClosed = true }
        wake()
    }

    private func wake() {
        var byte: UInt8 = 0
        // A full pipe also wakes the thread.
        _ = write(wakeSender, &byte, 1)
    }

    /// Reads and writes until the end; returns the reason.
    private func run(_ received: (([UInt8]) -> Void)) -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let problem = flush() { return problem }
            let (isClosed, isWriting) = outgoing.withLock { ($0.isClosed, $0.count > 0) }
            if isClosed { return "the connection was closed" }
            waitForEvents(isWriting: isWriting, &buffer)
            switch SystemSocket.receive(descriptor, into: &buffer) {
            case .bytes(0): return "the peer closed the connection"
            case .bytes(let count): received(Array(buffer[..<count]))
            case .wouldBlock: continue
            case .failed(let reason): return reason
            }
        }
    }

    private func waitForEvents(isWriting: Bool, _ buffer: inout [UInt8]) {
        let events = CShort(POLLIN) | (isWriting ? CShort(POLLOUT) : 0)
        var descriptors = [
            pollfd(fd: descriptor, events: events, revents: 0),
            pollfd(fd: wakeReceiver, events: CShort(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, nfds_t(descriptors.count), -1)
        if descriptors[1].revents != 0 { _ = read(wakeReceiver, &buffer, buffer.count) }
    }

    /// Sends what the peer accepts without waiting; returns an error.
    private func flush() -> String? {
        outgoing.withLock { outgoing in
            while outgoing.count > 0 {
                switch SystemSocket.send(descriptor, outgoing.rest) {
                case .bytes(let count): outgoing.remove(count)
                case .wouldBlock: return nil
                case .failed(let reason): return reason
                }
            }
            return nil
        }
    }
}
