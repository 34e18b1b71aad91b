import Foundation
import OAuth

extension Benchmark {
    static let redirects = Benchmark(
        name: "redirects", summary: "redirects that are read and checked against 1,000 pending sign-ins, by one thread",
        run: { _ in try await Redirects.run() })
}

/// Each redirect is read, found by its state, checked in full and its request taken out.
///
/// The time is the thread's own on the processor. While it runs, from 2,000 down to 1,000 sign-ins are pending, so that the reach holds for no fewer than its thousand.
private struct Redirects {
    private static let pending = 1_000
    private static let now = 1_700_000_000.0

    private let requests: [AuthorizationRequest]
    private let urls: [String]

    static func run() async throws -> [Figure] {
        let benchmark = try Redirects(count: 2 * pending)
        let reach = Reach.atLeast(1_000_000)
        return [
            try await benchmark.figure("read, checked and taken", reach, benchmark.take),
            try await benchmark.figure("the same, and another sign-in begins to wait", nil, benchmark.takeAndInsert),
            try await benchmark.figure("refused, because nobody waits for its state", nil, benchmark.refuse),
            try await benchmark.figure(
                "read by Foundation's URLComponents, without any check", nil, benchmark.readByFoundation),
        ]
    }

    private init(count: Int) throws {
        let base = "https://id.example.com/tenant"
        var server = AuthorizationServerMetadata(
            issuer: try Issuer(base), authorizationEndpoint: try EndpointURL(base + "/authorize"),
            tokenEndpoint: try EndpointURL(base + "/token"))
        server.announcesIssuerInResponse = true
        server.codeChallengeMethods = ["S256"]
        let redirect = try RedirectURI("https://app.example.org/connect/callback")
        requests = try (0..<count).map { _ in
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
            return 50 * Double(Self.pending) / time
        }
        return Figure(what, "a second", reach, samples: rates)
    }

    private func waiting(_ count: Int) throws -> PendingAuthorizations {
        var waiting = PendingAuthorizations()
        for request in requests.prefix(count) { try waiting.insert(request) }
        return waiting
    }

    private func take() throws -> Double {
        var waiting = try waiting(2 * Self.pending)
        let start = processorSeconds()
        for url in urls.prefix(Self.pending) { _ = try waiting.take(redirectURL: url, now: Self.now + 10) }
        let time = processorSeconds() - start
        guard waiting.count == Self.pending else { throw Failure("not every redirect was taken") }
        return time
    }

    private func takeAndInsert() throws -> Double {
        var waiting = try waiting(Self.pending)
        let start = processorSeconds()
        for number in 0..<Self.pending {
            _ = try waiting.take(redirectURL: urls[number], now: Self.now + 10)
            try waiting.insert(requests[Self.pending + number])
        }
        return processorSeconds() - start
    }

    private func refuse() throws -> Double {
        var waiting = try waiting(Self.pending)
        let start = processorSeconds()
        for url in urls.suffix(Self.pending) {
            do {
                _ = try waiting.take(redirectURL: url, now: Self.now + 10)
                throw Failure("a redirect that nobody waits for was taken")
            } catch is OAuthError {}
        }
        return processorSeconds() - start
    }

    private func readByFoundation() throws -> Double {
        let start = processorSeconds()
        for url in urls.prefix(Self.pending) {
            guard let items = URLComponents(string: url)?.queryItems, items.count == 3 else {
                throw Failure("Foundation read something else")
            }
        }
        return processorSeconds() - start
    }
}
