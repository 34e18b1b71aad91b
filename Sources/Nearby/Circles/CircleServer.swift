import Circles
import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth

/// A circle's server, as its members ask it (circles dossier 4).
///
/// Functions throw ``CircleProblem``, or `CancellationError`.
struct CircleServer: Sendable {
    let address: EndpointURL
    let transport: any Transport
    var bearer: Secret?
    /// The limits of an answer; the longest is a page of 1,000 rows.
    var limits = TransferLimits(maximumContentLength: 2 << 20)

    /// - Throws: ``CircleProblem/address(_:)``.
    init(_ text: String, transport: any Transport, bearer: Secret? = nil) throws(CircleProblem) {
        let plain = text.hasSuffix("/") ? String(text.dropLast()) : text
        // What has another beginning is not repeated: it may hold a password.
        let scheme = text.prefix(8).lowercased()
        guard scheme == "https://" || scheme.hasPrefix("http://") else { throw .address(Self.withoutScheme) }
        do {
            address = try EndpointURL(plain, security: .allowingInsecureLoopback, member: "address")
        } catch .configuration(_, let problem) {
            throw .address(problem)
        } catch {
            throw .address(Self.withoutScheme)
        }
        guard address.query == nil else { throw .address("it must not contain a question mark") }
        self.transport = transport
        self.bearer = bearer
    }

    private static let withoutScheme = "it must begin with https://"

    /// The public address, from which the scope derives.
    var text: String { address.string.hasSuffix("/") ? String(address.string.dropLast()) : address.string }
    var scope: CircleScope { CircleScope(circleAt: text) }

    /// An answer of the server.
    struct Answer: Sendable {
        let status: Int
        let content: [UInt8]
        let tag: String?

        func object(_ what: String) throws(CircleProblem) -> JSONObject {
            guard let object = (try? JSONValue(parsing: content))?.object else {
                throw .malformed("\(what) is not a JSON object")
            }
            return object
        }
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - path: below the address, as in `v1/me`.
    ///   - expected: the statuses that are no errors.
    ///   - tag: what is known, for a conditional request.
    func send(
        _ method: HTTPRequest.Method, _ path: String, json: JSONObject? = nil, octets: [UInt8]? = nil,
        expecting expected: Set<Int> = [200], tag: String? = nil
    ) async throws -> Answer {
        var headers: HTTPFields = [.accept: "application/json, application/octet-stream"]
        if let bearer { headers[.authorization] = "Bearer \(bearer.reveal())" }
        headers[.ifNoneMatch] = tag
        var content = RequestMessage.Content.none
        if let json {
            headers[.contentType] = "application/json"
            content = .bytes(Array(JSONValue.object(json).json.utf8))
        } else if let octets {
            headers[.contentType] = "application/octet-stream"
            content = .bytes(octets)
        }
        let response: ResponseMessage
        do {
            let prefix = address.path.hasSuffix("/") ? String(address.path.dropLast()) : address.path
            let target = try address.at(target: "\(prefix)/\(path)")
            response = try await transport.send(
                RequestMessage(method, target, headers: headers, content: content), limits: limits)
        } catch let error as TransportError {
            throw CircleProblem.network(error)
        } catch is OAuthError {
            throw CircleProblem.address("it makes no valid request")
        }
        let status = response.head.status.code
        guard expected.contains(status) else { throw Self.problem(response) }
        return Answer(status: status, content: response.content, tag: response.head.headerFields[.eTag])
    }

    private static func problem(_ response: ResponseMessage) -> CircleProblem {
        let object = (try? JSONValue(parsing: response.content))?.object
        let code = object?["code"]?.string ?? "error"
        let message = quoted(object?["message"]?.string ?? "", limit: 200)
        switch (response.head.status.code, code) {
        case (401, _): return .signedOut
        case (403, "removed"): return .removed
        case (403, "not_a_member"): return .notAMember
        case (410, "attempt_gone"): return .attemptOver
        case (429, _), (503, _):
            let seconds = response.head.headerFields[.retryAfter].flatMap { Int($0) } ?? 60
            return .tooMany(seconds: min(max(seconds, 1), 86_400))
        case (let status, _): return .refused(status: status, code: quoted(code, limit: 40), message: message)
        }
    }

    /// The times that a clock can have, up to the year 9999: differences of them do not overflow.
    private static let calendar: ClosedRange<Int64> = 0...253_402_300_799

    /// What a circle says of itself.
    struct Info: Sendable {
        let name: String
        let service: String
        let epoch: UInt32
        /// Seconds since 1970, by the server's clock.
        let time: Int64
    }

    func info() async throws -> Info {
        let object = try await send(.get, "v1").object("the description")
        guard let name = object["name"]?.string, MemberText.isName(name),
            let epoch = object["epoch"]?.integer.flatMap({ UInt32(exactly: $0) }),
            let time = object["time"]?.integer, Self.calendar.contains(time),
            object["versions"]?.array?.contains(where: { $0.integer == 1 }) == true
        else { throw CircleProblem.malformed("its description") }
        return Info(name: name, service: object["service"]?.string ?? "", epoch: epoch, time: time)
    }

    /// Publishes a record.
    ///
    /// - Throws: ``CircleProblem`` for an answer without an epoch: the server may not have stored it.
    func publish(_ bytes: [UInt8], as path: String) async throws {
        let object = try await send(.put, "v1/me/\(path)", octets: bytes).object("the answer")
        guard object["epoch"]?.integer.flatMap({ UInt32(exactly: $0) }) != nil else {
            throw CircleProblem.malformed("the epoch")
        }
    }
}
