#if !os(Linux) || CHECK_APPLE_ADAPTERS
    // CHECK_APPLE_ADAPTERS is set by Tests/AppleDeclarations/check, which type-checks this file on Linux.
    public import Foundation
    import HTTPTypes
    public import OAuth

    /// The transport on Apple's platforms: URLSession without cookies, caches or stored credentials, and with redirects
    /// off.
    ///
    /// A content stream is collected before it is sent, at most ``TransferLimits/maximumContentLength`` bytes of it.
    public final class URLSessionTransport: NSObject, Transport, URLSessionTaskDelegate {
        private let session: URLSession

        public override init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            session = URLSession(configuration: configuration)
        }

        public func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            let host = request.head.authority ?? ""
            let message = try await Self.urlRequest(request, host: host, limits: limits)
            do {
                return try await withDeadline(limits.deadline, on: ContinuousClock()) { [self] in
                    try await exchange(message, host: host, limits: limits)
                }
            } catch is DeadlineExceeded {
                throw TransportError.timedOut(host: host)
            } catch let error as URLError {
                if Task.isCancelled { throw CancellationError() }
                throw Self.describe(error, host: host)
            }
        }

        private func exchange(
            _ request: URLRequest, host: String, limits: TransferLimits
        ) async throws -> ResponseMessage {
            let (bytes, response) = try await session.bytes(for: request, delegate: self)
            guard let response = response as? HTTPURLResponse else {
                throw TransportError.cut(host: host, reason: "the answer is not HTTP")
            }
            var content: [UInt8] = []
            for try await byte in bytes {
                guard content.count < limits.maximumContentLength else {
                    throw TransportError.tooLarge(host: host, limit: limits.maximumContentLength)
                }
                content.append(byte)
            }
            var fields = HTTPFields()
            for (name, value) in response.allHeaderFields {
                guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                    continue
                }
                fields.append(HTTPField(name: name, value: value))
            }
            return ResponseMessage(
                head: HTTPResponse(status: .init(code: response.statusCode), headerFields: fields), content: content)
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
            case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
                .internationalRoamingOff,
                .dataNotAllowed:
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
