#if !os(Linux)
import AsyncSupport
public import Foundation
public import HTTPTypes
public import OAuth
import Security
import Synchronization

/// The transport on Apple's platforms, by URLSession. It has no cookies, caches or stored credentials, and redirects
/// are off.
///
/// A content stream is collected before it is sent, at most ``TransferLimits/maximumContentLength`` bytes of it.
public final class URLSessionTransport: NSObject, Transport, URLSessionTaskDelegate {
    private let session: URLSession
    /// URLSession looks names up again: here they are checked before, and another answer between the two is not noticed.
    private let check = AddressCheck(resolver: .system)
    private let certificate: ClientCertificate?

    public override convenience init() {
        self.init(presenting: nil)
    }

    private init(presenting certificate: ClientCertificate?) {
        self.certificate = certificate
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The system's own 60 s would end an exchange whose limits allow more.
        configuration.timeoutIntervalForRequest = 86_400
        session = URLSession(configuration: configuration)
    }

    /// A transport of its own, whose connections present a certificate if asked.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a certificate that no keychain has.
    public func presenting(_ certificate: ClientCertificate) throws(HandshakeError) -> any Transport {
        guard certificate.identity != nil else {
            throw ClientCertificate.wrong("import it into the keychain, and give the identity from there")
        }
        return URLSessionTransport(presenting: certificate)
    }

    /// Answers a server that asks for a certificate (RFC 8446, section 4.3.2).
    ///
    /// Everything else is the system's to decide.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate,
            let identity = certificate?.identity
        else { return (.performDefaultHandling, nil) }
        return (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .none))
    }

    public func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let content = Mutex<[UInt8]>([])
        let head = try await stream(request, limits: limits) { _, piece in content.withLock { $0 += piece } }
        return ResponseMessage(head: head, content: content.withLock { $0 })
    }

    public func stream(
        _ request: RequestMessage, limits: TransferLimits,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        let host = request.head.authority ?? ""
        let message = try await Self.urlRequest(request, host: host, limits: limits)
        do {
            return try await withDeadlineForAnswer(limits.timeout) { [self] in
                _ = try await check.addresses(for: request)
                return try await exchange(message, host: host, limits: limits, receive: receive)
            }
        } catch is DeadlineExceeded {
            throw TransportError.timedOut(host: host)
        } catch let failure as ReceiverFailure {
            throw failure.error
        } catch let error as URLError {
            if Task.isCancelled { throw CancellationError() }
            throw Self.describe(error, host: host)
        }
    }

    /// What the receiver of a stream threw: no failure of the exchange, and thrown on as it is.
    private struct ReceiverFailure: Error {
        let error: any Error
    }

    private static let pieceLength = 64 << 10

    private func exchange(
        _ request: URLRequest, host: String, limits: TransferLimits,
        receive: @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        let (bytes, response) = try await session.bytes(for: request, delegate: self)
        guard let response = response as? HTTPURLResponse else {
            throw TransportError.cut(host: host, reason: "the answer is not HTTP")
        }
        let head = try Self.head(of: response, from: host)
        var piece: [UInt8] = []
        var length = 0
        func handOver() async throws {
            do {
                try await receive(head, piece)
            } catch {
                throw ReceiverFailure(error: error)
            }
            piece.removeAll(keepingCapacity: true)
        }
        for try await byte in bytes {
            length += 1
            guard length <= limits.maximumContentLength else {
                throw TransportError.tooLarge(host: host, limit: limits.maximumContentLength)
            }
            piece.append(byte)
            if piece.count == Self.pieceLength { try await handOver() }
        }
        if !piece.isEmpty { try await handOver() }
        return head
    }

    /// The status is judged first: `HTTPResponse.Status` stops the process at a code that has more than three digits.
    private static func head(
        of response: HTTPURLResponse, from host: String
    ) throws(TransportError) -> HTTPResponse {
        if let problem = ResponseStatus.problem(with: response.statusCode) {
            throw .invalid(host: host, reason: problem)
        }
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                continue
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return HTTPResponse(status: .init(code: response.statusCode), headerFields: fields)
    }

    /// Never follows a redirect: the answer is the redirect itself.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        nil
    }

    private static func urlRequest(
        _ request: RequestMessage, host: String, limits: TransferLimits
    ) async throws -> URLRequest {
        let head = request.head
        guard let url = URL(string: "\(head.scheme ?? "https")://\(host)\(head.path ?? "/")") else {
            throw TransportError.unreachable(host: host, reason: "the address cannot be read")
        }
        var message = URLRequest(url: url)
        // The system's bound is 60 s. The deadline is kept to in `stream`, and this comes after it.
        message.timeoutInterval = limits.timeout.bounded / .seconds(1) + 5
        message.httpMethod = head.method.rawValue
        for field in head.headerFields { message.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        switch request.content {
        case .none: break
        case .bytes(let bytes): message.httpBody = Data(bytes)
        case .stream(let parts, _):
            var content = Data()
            for await part in parts {
                guard content.count + part.count <= limits.maximumContentLength else {
                    throw TransportError.tooLarge(host: host, limit: limits.maximumContentLength)
                }
                content += part
            }
            message.httpBody = content
        }
        return message
    }

    private static func describe(_ error: URLError, host: String) -> TransportError {
        switch error.code {
        case .cannotFindHost, .dnsLookupFailed: .unknownHost(host: host)
        case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed:
            .unreachable(host: host, reason: error.localizedDescription)
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .serverCertificateUntrusted, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            .insecure(host: host, reason: error.localizedDescription)
        case .timedOut: .timedOut(host: host)
        default: .cut(host: host, reason: error.localizedDescription)
        }
    }
}
#endif
