import Foundation
import HTTPTypes
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// What `handshake sandbox --service NAME` starts, for every line that it can imitate.
@Suite("Sign-ins at the sandbox's stand-ins of services by name", .heavy)
struct ImitatedSignInTests {
    private static func imitation(_ name: String) throws -> ImitatedService {
        try ImitatedService(parsing: BuiltInServiceTests.lines[name] ?? "")
    }

    private static let imitated = BuiltInServiceTests.lines.keys.sorted().filter { (try? imitation($0)) != nil }

    /// The names in groups: each stand-in listens at a port of its own, and a group has one sandbox.
    private static let groups = stride(from: 0, to: imitated.count, by: 31).map { first in
        Array(imitated[first..<min(first + 31, imitated.count)])
    }

    /// An app as a user of `handshake sandbox` would configure it.
    private static func app(
        _ name: String, _ described: ServiceTwin, at stand: SandboxService, _ transport: any Transport
    ) throws -> Handshake {
        let service = try Service.named(Service.Name(rawValue: name), BuiltInServiceTests.values(name))
            .at(try EndpointURL(stand.origin, security: .allowingInsecureLoopback))
        let known = try #require(stand.clients.first)
        let redirect = Client.Redirect.uri(try RedirectURI(ServiceTwin.redirect))
        let scopes = described.text("scope_delimiter") == nil ? nil : described.scopes
        let client =
            if let secret = known.secret {
                Client.confidential(
                    service: service, id: known.id, secret: Secret(secret), redirect: redirect, scopes: scopes)
            } else { Client(service: service, id: known.id, redirect: redirect, scopes: scopes) }
        return try Handshake(
            client, vault: MemoryVault(), transport: transport, time: described.time, limits: World.limits)
    }

    /// A user declines, then signs in, is named and stays signed in.
    private static func visit(_ name: String, _ sandbox: Sandbox, _ transport: any Transport) async throws {
        // Its reading of the line says what is to be expected.
        let described = try ServiceTwin(
            BuiltInServiceTests.lines[name] ?? "", values: BuiltInServiceTests.values(name))
        let stand = try #require(sandbox.services.first { $0.name.rawValue == name })
        let user = try #require(stand.users.first)
        let app = try Self.app(name, described, at: stand, transport)
        let denial = await handshakeError {
            try await app.signIn(through: ScriptedBrowser { try await sandbox.refuse($0.url) })
        }
        #expect(denial == .signInAbandoned(.denied), "\(name)")
        let account = try await app.signIn(through: ApprovingBrowser(sandbox: sandbox))
        #expect(account.status.scopes == described.scopes, "\(name)")
        #expect(account.status.expiresAt == described.expiry, "\(name)")
        #expect((account.status.identity?.subject == user.subject) == described.flag("discovers"), "\(name)")
        if described.text("userinfo_url") != nil {
            let identity = try await account.identity()
            #expect(identity.subject == user.subject, "\(name)")
            if let place = described.text("name_pointer"), place != described.text("subject_pointer") {
                #expect(identity.name == (place.contains("mail") ? user.name : user.displayName), "\(name)")
            }
        }
        guard described.issuesRefreshTokens else {
            let error = await handshakeError { try await account.refresh() }
            #expect(error?.code == "sign_in_required", "\(name)")
            return
        }
        var tokens: Set<String> = [try await account.accessToken().reveal()]
        for _ in 0..<2 {
            try await account.refresh()
            tokens.insert(try await account.accessToken().reveal())
        }
        #expect(tokens.count == 3, "\(name)")
        #expect(account.status.state == .signedIn, "\(name)")
    }

    @Test(
        "a user declines, signs in, is named and stays signed in at the sandbox's stand-in of every service it imitates",
        arguments: groups)
    func signIn(_ names: [String]) async throws {
        let sandbox = try await Sandbox.start(imitating: try names.map { try Self.imitation($0) })
        sandbox.holdClock(at: Date(timeIntervalSince1970: 1_795_000_000))
        // The sandbox's clock stands still, and the `Date` of its answers goes on: a client would follow it.
        let transport = TappedTransport { request, base, limits in
            var response = try await base.send(request, limits: limits)
            response.head.headerFields[.date] = nil
            return response
        }
        for name in names {
            do { try await Self.visit(name, sandbox, transport) } catch { Issue.record("\(name): \(error)") }
        }
        await sandbox.stop()
    }

    @Test("no stand-in of a service that publishes metadata has drifted from the description that it is made from")
    func compared() async throws {
        let known = BuiltInService.all.filter {
            $0.facts["discovers"]?.bool == true && Self.imitated.contains($0.name)
        }
        #expect(known.count > 30)
        let sandbox = try await Sandbox.start(imitating: try known.map { try Self.imitation($0.name) })
        for service in known {
            do {
                let stand = try #require(sandbox.services.first { $0.name.rawValue == service.name })
                let compared = try await service.comparison(
                    BuiltInServiceTests.values(service.name),
                    at: try EndpointURL(stand.origin, security: .allowingInsecureLoopback))
                let drifted = try #require(compared).filter { $0.outcome == .drifted }
                #expect(drifted.isEmpty, "\(service.name): \(drifted)")
            } catch { Issue.record("\(service.name): \(error)") }
        }
        await sandbox.stop()
    }

    @Test("one service of those that are supported cannot be imitated, and the sandbox says why, as of the others")
    func notImitated() throws {
        var reasons: [String: String] = [:]
        for name in BuiltInServiceTests.lines.keys {
            do { _ = try Self.imitation(name) } catch { reasons[name] = "\(error)" }
        }
        var expected = [
            "apple": "The sandbox cannot imitate Sign in with Apple: its clients sign what they authenticate with."
        ]
        for service in BuiltInService.all {
            guard let reason = service.unsupportedReason else { continue }
            let title = service.facts["title"]?.string ?? service.name
            expected[service.name] = "The sandbox cannot imitate \(title): \(reason)."
        }
        #expect(reasons == expected)
        #expect(Self.imitated == BuiltInServiceTests.supported.filter { $0 != "apple" })
        #expect(Self.groups.flatMap(\.self) == Self.imitated)
    }
}
