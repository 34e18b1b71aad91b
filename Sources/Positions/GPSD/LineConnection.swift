import AsyncSupport
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TCP connection that sends one request and reads lines. When nothing comes for half of ``maximumSilence`` it sends a
/// question, to which a daemon that lives has an answer.
///
/// A thread of its own reads, so a slow name server or a silent daemon blocks no other task. It looks for cancellation
/// ten times a second.
struct LineConnection: Sendable {
    let host: String
    let port: UInt16
    let request: [UInt8]
    let question: [UInt8]
    let maximumLineLength: Int
    /// After how many seconds without a byte the connection counts as lost: the other machine may be gone without a word.
    let maximumSilence: Int

    /// The lines without their ends; it throws ``PositionsError`` when connecting fails and for a line that is too long.
    func lines() -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1_024)) { continuation in
            let isCancelled = CancellationFlag()
            continuation.onTermination = { _ in isCancelled.set() }
            let queue = DispatchQueue(label: "positions.lines")
            queue.async {
                do throws(PositionsError) {
                    let socket = try connect(isCancelled)
                    defer { _ = systemClose(socket) }
                    try send(request, to: socket, isCancelled)
                    try read(socket, isCancelled) { continuation.yield($0) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
        }
    }

    private func unreachable(_ reason: String) -> PositionsError {
        .unreachable(source: "gpsd at \(host):\(port)", reason: reason)
    }

    /// Why a name has no address, and what to do.
    private func reason(of status: CInt) -> String {
        guard status == EAI_NONAME else { return String(cString: gai_strerror(status)) }
        return "the host “\(host)” is unknown. Check its spelling and the network"
    }

    private func lost(_ reason: String) -> PositionsError { .lost(source: "gpsd at \(host):\(port)", reason: reason) }

    private func connect(_ isCancelled: CancellationFlag) throws(PositionsError) -> CInt {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, "\(port)", &hints, &list)
        guard status == 0 else { throw unreachable(reason(of: status)) }
        defer { freeaddrinfo(list) }
        var reason = "no address"
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            let descriptor = socket(entry.ai_family, entry.ai_socktype, entry.ai_protocol)
            guard descriptor >= 0 else { continue }
            switch open(descriptor, entry, isCancelled) {
            case nil: return descriptor
            case let failure?: reason = failure
            }
            _ = systemClose(descriptor)
        }
        throw unreachable("\(reason). Check that gpsd runs there")
    }

    /// Connects without blocking.
    ///
    /// - Returns: nil when connected, else why not.
    private func open(_ descriptor: CInt, _ entry: addrinfo, _ isCancelled: CancellationFlag) -> String? {
        #if canImport(Darwin)
        var on: CInt = 1
        _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
        #endif
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        if systemConnect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 { return nil }
        guard errno == EINPROGRESS else { return String(cString: strerror(errno)) }
        // Ten seconds; the system's own limit is minutes.
        for _ in 0..<100 {
            if isCancelled.isSet { return "cancelled" }
            guard wait(descriptor, for: CShort(POLLOUT)) else { continue }
            var error: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
            return error == 0 ? nil : String(cString: strerror(error))
        }
        return "no answer within 10 s"
    }

    /// Waits up to a tenth of a second.
    private func wait(_ descriptor: CInt, for events: CShort) -> Bool {
        var item = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&item, 1, 100) > 0
    }

    private func send(
        _ bytes: [UInt8], to descriptor: CInt, _ isCancelled: CancellationFlag
    ) throws(PositionsError) {
        var rest = bytes[...]
        while !rest.isEmpty, !isCancelled.isSet {
            guard wait(descriptor, for: CShort(POLLOUT)) else { continue }
            let count = rest.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EAGAIN, errno != EINTR {
                throw lost(String(cString: strerror(errno)))
            }
        }
    }

    private func read(
        _ descriptor: CInt, _ isCancelled: CancellationFlag, _ yield: ([UInt8]) -> Void
    ) throws(PositionsError) {
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        // In tenths of a second.
        var silence = 0
        while !isCancelled.isSet {
            guard wait(descriptor, for: CShort(POLLIN)) else {
                silence += 1
                if silence == 5 * maximumSilence { try send(question, to: descriptor, isCancelled) }
                guard silence < 10 * maximumSilence else { throw lost("it said nothing for \(maximumSilence) s") }
                continue
            }
            silence = 0
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count == 0 { return }
            if count < 0 {
                if errno == EAGAIN || errno == EINTR { continue }
                throw lost(String(cString: strerror(errno)))
            }
            for byte in buffer[..<count] {
                if byte == 0x0A {
                    if line.last == 0x0D { line.removeLast() }
                    if !line.isEmpty { yield(line) }
                    line.removeAll(keepingCapacity: true)
                } else {
                    guard line.count < maximumLineLength else {
                        throw lost("it sent a line over \(maximumLineLength) bytes")
                    }
                    line.append(byte)
                }
            }
        }
    }
}

// The system's functions under names that the methods above do not hide.
private func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }

private func systemConnect(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> CInt {
    guard let address else { return -1 }
    return connect(descriptor, address, length)
}

private func systemSend(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes, count, 0)
    #else
    // A daemon that has gone is an error to handle, not a signal that ends the process.
    send(descriptor, bytes, count, CInt(MSG_NOSIGNAL))
    #endif
}
