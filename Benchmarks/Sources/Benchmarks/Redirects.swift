import Foundation
import OAuth

extension Benchmark {
    static let redirects = Benchmark(
        name: "redirects", summary: "redirects that are read and checked against their requests, by one thread",
        run: { _ in try await Redirects.run() })
}

/// Each redirect is read once and checked in full against its request, which gives the code. The time is the thread's own
/// on the processor.
private struct Redirects {
    private static let count = 1_000
    private static let now = 1_700_000_000.0

    private let requests: [AuthorizationRequest]
    private let urls: [String]

    static func run() async throws -> [Figure] {
        let benchmark = try Redirects()
        return [
            try await benchmark.figure("read and checked", .atLeast(200_000), benchmark.check),
            try await benchmark.figure("rejected, because the state is another one", nil, benchmark.reject),
            try await benchmark.figure(
                "read by Foundation's URLComponents, without any check", nil, benchmark.readByFoundation),
        ]
    }

    private init() throws {
        let base = "https://id.example.com/tenant"
        var server = AuthorizationServerMetadata(
            issuer: try Issuer(base), authorizationEndpoint: try EndpointURL(base + "/authorize"),
            tokenEndpoint: try EndpointURL(base + "/token"))
        server.announcesIssuerInResponse = true
        server.codeChallengeMethods = ["S256"]
        let redirect = try RedirectURI("https://app.example.org/connect/callback")
        requests = try (0..<Self.count).map { _ in
            try AuthorizationRequest(
                to: server, clientID: "client-1234567890", redirectURI: redirect, scopes: ["openid", "profile"],
                now: Self.now)
        }
        urls = requests.map { request in
            redirect.string + "?code=SplxlOBeZQQYbYS6WxSbIA0123456789&state=" + request.state.reveal()
                + "&iss=https%3A%2F%2Fid.example.com%2Ftenant"
        }
    }

    private func figure(_ what: String, _ reach: Reach?, _ secondsForAThousand: () throws -> Double) async throws
        -> Figure
    {
        let rates = try await samples(25, warmUp: 3) {
            var time = 0.0
            for _ in 0..<50 { time += try secondsForAThousand() }
            return 50 * Double(Self.count) / time
        }
        return Figure(what, "a second", reach, samples: rates)
    }

    private func check() throws -> Double {
        let start = processorSeconds()
        for (request, url) in zip(requests, urls) {
            _ = try request.code(from: AuthorizationResponse(redirectURL: url), now: Self.now + 10)
        }
        return processorSeconds() - start
    }

    private func reject() throws -> Double {
        let start = processorSeconds()
        for (request, url) in zip(requests, urls.reversed()) {
            do {
                _ = try request.code(from: AuthorizationResponse(redirectURL: url), now: Self.now + 10)
                throw Failure("another request's redirect was accepted")
            } catch is OAuthError {}
        }
        return processorSeconds() - start
    }

    private func readByFoundation() throws -> Double {
        let start = processorSeconds()
        for url in urls {
            guard let items = URLComponents(string: url)?.queryItems, items.count == 3 else {
                throw Failure("Foundation read something else")
            }
        }
        return processorSeconds() - start
    }
}
