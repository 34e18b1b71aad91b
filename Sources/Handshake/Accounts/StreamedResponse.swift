public import HTTPTypes
public import OAuth
import Synchronization

extension Account {
    /// Sends a request and hands over a successful answer's content in pieces. For content that should not be held in
    /// memory.
    ///
    /// Token, refresh, replay and redirects are as in ``send(_:redirects:limits:)``. Nothing of an answer that leads to one of
    /// them, or that is no success, reaches `receive`. The pieces come in order, one at a time; after an error some of
    /// them may have been handed over.
    ///
    /// - Parameters:
    ///   - request: what to send.
    ///   - redirects: what to do with a redirect.
    ///   - limits: bounds the handed-over content too, and its deadline the whole exchange.
    ///   - receive: gets status and fields of the answer, and the next piece.
    /// - Returns: the answer; its content is empty when it was handed over, and whole, up to 1 MiB, when it was no
    ///   success.
    /// - Throws: what ``send(_:redirects:limits:)`` throws, and what `receive` throws.
    public func stream(
        _ request: RequestMessage, redirects: RedirectPolicy = .follow, limits: TransferLimits = TransferLimits(),
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> ResponseMessage {
        let transmission = Transmission.by { [self] request, isHome in
            let sieve = ContentSieve(host: request.head.authority ?? "")
            let head = try await transport(isHome: isHome).stream(request, limits: limits) { head, piece in
                for piece in try sieve.admit(piece, of: head) { try await receive(head, piece) }
            }
            return ResponseMessage(head: head, content: sieve.rest)
        }
        var response = try await send(request, redirects: redirects, by: transmission)
        // A success so short that it had to be looked at first.
        if response.head.status.kind == .successful, !response.content.isEmpty {
            try await receive(response.head, response.content)
            response.content = []
        }
        return response
    }
}

/// Separates content that the caller may see immediately from content that must be inspected first.
///
/// A service may say "unauthorized" with any status and a short message, so the first bytes of a success are held back
/// until the answer is longer than any such message. A class, because the pieces of one exchange arrive in separate
/// calls.
private final class ContentSieve: Sendable {
    private let host: String
    private let held = Mutex(Held())

    private struct Held {
        var bytes: [UInt8] = []
        var isTransient = false
    }

    /// The longest message that can mean "unauthorized"; ``Service/demand(in:hiding:)`` looks at no longer one.
    private static let maximumMessageLength = 512
    private static let maximumFailureLength = 1 << 20

    init(host: String) {
        self.host = host
    }

    /// The pieces that may be handed over now.
    func admit(_ piece: [UInt8], of head: HTTPResponse) throws(TransportError) -> [[UInt8]] {
        let isSuccess = head.status.kind == .successful
        let (passed, isTooLong) = held.withLock { held -> ([[UInt8]], Bool) in
            if held.isTransient { return ([piece], false) }
            held.bytes += piece
            guard isSuccess else { return ([], held.bytes.count > Self.maximumFailureLength) }
            guard held.bytes.count > Self.maximumMessageLength else { return ([], false) }
            defer { held = Held(isTransient: true) }
            return ([held.bytes], false)
        }
        guard !isTooLong else { throw .tooLarge(host: host, limit: Self.maximumFailureLength) }
        return passed
    }

    /// What was held back until the end: a short success, or an answer that is none.
    var rest: [UInt8] {
        held.withLock { $0.bytes }
    }
}
