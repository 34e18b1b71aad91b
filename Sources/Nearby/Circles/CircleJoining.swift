import Beacons
import Circles
import Crypto
import Foundation
public import Handshake
import OAuth

/// An attempt to join a circle.
///
/// The user signs in at the community's service, in the browser.
///
/// Functions throw ``NearbyError``, or `CancellationError`.
public struct CircleJoining: Sendable {
    /// What this device and the page must show alike.
    public let code: String
    /// The page to open in the browser; it is at the circle's own server.
    public let page: String
    /// The circle's name, as the server says.
    public let circle: String

    private let server: CircleServer
    private let service: String
    private let attempt: String
    private let verifier: String
    private let interval: Duration
    private let deadline: Double
    private let isReplacing: Bool
    private let environment: CircleEnvironment

    /// Begins an attempt.
    ///
    /// A device that is in the circle joins again from ``JoinedCircle/renewalTime`` before its sign-in ends, and keeps the identity.
    /// A circle of another service than the environment's community is refused: its numbers are those of other people.
    ///
    /// - Parameters:
    ///   - address: the circle's public URL.
    ///   - environment: where the membership is stored, and what the server is reached by.
    ///   - isReplacing: whether this device gets a new identity, although the user has one: the device that has it was lost. All other
    ///     devices are signed out, and who knew the user is told to ask in person, because nothing old signs the new identity. On a device
    ///     that is in the circle, a replacement that fails after the user has agreed is finished by the next synchronisation.
    public static func begin(
        at address: String, in environment: CircleEnvironment, replacingIdentity isReplacing: Bool = false
    ) async throws -> CircleJoining {
        try await CircleEnvironment.placing {
            let server = try CircleServer(address, transport: environment.transport)
            let records = environment.records(of: server.scope)
            if !isReplacing, let state = try await records.state(), !state.mayJoinAgain(at: environment.time.now()) {
                throw CircleProblem.alreadyJoined
            }
            // A server that has not heard that the user left would refuse another identity.
            await environment.stored.deliverFarewells(over: environment.transport, at: environment.time.now())
            let info = try await server.info()
            guard info.service == environment.community else {
                throw CircleProblem.otherService(
                    quoted(info.service, limit: 80), circle: quoted(info.name, limit: 80),
                    community: environment.community)
            }
            let verifier = CodeVerifier()
            let challenge = SHA256.hash(data: Array(verifier.secret.reveal().utf8))
            var request: JSONObject = ["challenge": .string(Base64URL.encode(challenge))]
            if isReplacing { request["replace"] = .bool(true) }
            let object = try await server.send(.post, "v1/attempts", json: request, expecting: [201])
                .object("the attempt")
            guard let attempt = object["attempt"]?.string, Base64URL.decode(attempt) != nil,
                let code = object["code"]?.string, let page = object["verify_url"]?.string,
                let url = try? EndpointURL(page, security: .allowingInsecureLoopback),
                url.origin == server.address.origin, let seconds = object["expires_in"]?.integer
            else { throw CircleProblem.malformed("the attempt to join") }
            return CircleJoining(
                code: quoted(code, limit: 40), page: page, circle: info.name, server: server, service: info.service,
                attempt: attempt, verifier: verifier.secret.reveal(),
                interval: .seconds(min(max(object["interval"]?.integer ?? 3, 1), 60)),
                deadline: environment.time.now() + Double(min(max(seconds, 0), 3_600)), isReplacing: isReplacing,
                environment: environment)
        }
    }

    /// Waits until the user has decided in the browser, and joins.
    ///
    /// Publishes an identity and day keys, and fetches the tables. A member who joins again after the device was signed out keeps the
    /// identity.
    ///
    /// Where ``CircleProblem/alreadyJoined`` or ``CircleProblem/otherNumber(_:circle:known:in:)`` is thrown, the sign-in ends. A server
    /// that cannot be told now is told later, as of a sign-out: see ``StoredPeople/deliverFarewells(over:at:)``.
    public func finish() async throws -> JoinedCircle {
        try await CircleEnvironment.placing {
            let object = try await approval()
            guard let bearer = object["token"]?.string, bearer.utf8.count == 43,
                let number = object["number"]?.integer.flatMap({ UInt32(exactly: $0) }),
                (try? UserNumber(Int(number))) != nil,
                let expires = object["expires_at"]?.integer
            else { throw CircleProblem.malformed("the membership") }
            let records = environment.records(of: server.scope)
            let moment = environment.time.now()
            if let refusal = try await refusal(of: number, at: moment) {
                let farewell = CircleFarewell(
                    address: server.text, bearer: bearer, isLeaving: false, expires: expires)
                if await farewell.deliver(over: environment.transport, at: moment) == .pending {
                    await records.rememberRefusedJoin(farewell)
                }
                throw refusal
            }
            let fresh = CircleRecords.State(
                address: server.text, circle: circle, service: service, number: number,
                name: object["name"]?.string ?? "", batch: object["batch"]?.string ?? "", bearer: bearer,
                expires: expires, keys: Data(MemberKeys().reveal()))
            // One step: another process may be deciding something.
            let known = try await records.change { [isReplacing] stored -> CircleRecords.State? in
                let known = stored
                var new = fresh
                if let known, known.number == number {
                    new.takeDecisions(of: known)
                    if !isReplacing { new.takeIdentity(of: known) }
                    // The server has removed them where no bearer was valid any more.
                    if !isReplacing, !known.mustJoinAgain(at: moment) {
                        (new.publishedUntil, new.publishedKey) = (known.publishedUntil, known.publishedKey)
                    }
                }
                // What ends before the server has answered leaves a member whose identity the next synchronisation publishes.
                new.isIdentityPending = true
                stored = new
                return known
            }
            let isContinued = known?.number == number && !isReplacing
            let joined = JoinedCircle(records, environment)
            var isPublished = false
            do {
                // The new membership does not know that members may have keys of the seed for friends. First: a hide would not end it.
                if !isContinued, known?.hasSharedSeed == true { try await joined.forgetSharedSeed() }
                if let known, known.number == number, known.mustJoinAgain(at: moment) {
                    // The server may have let the member leave, and forgotten from whom the user hides and what is not shown.
                    do {
                        try await joined.deliverHides()
                        try await joined.deliverVisibility()
                    } catch CircleProblem.tooMany {
                        // The next synchronisation goes on, and publishes the identity when all of it is told.
                        return joined
                    } catch CircleProblem.refused(..<500, _, _) {
                        return joined
                    }
                }
                try await joined.publishIdentity()
                isPublished = true
                if isContinued, let known, !known.mustJoinAgain(at: moment) {
                    // Otherwise the server takes it for another device's, and refuses a new identity after a sign-out.
                    let former = CircleFarewell(
                        address: server.text, bearer: known.bearer, isLeaving: false, expires: known.expires)
                    _ = await former.deliver(over: environment.transport, at: environment.time.now())
                }
                if isReplacing { try await joined.renewSeed() }
                _ = try await joined.synchronizeQuietly()
            } catch let error {
                // Without an identity the user is no member that others could see. Keys can follow later.
                if isPublished { return joined }
                if isReplacing, known?.number == number {
                    // The server has ended the old identity and every other bearer: the next synchronisation publishes the new identity.
                    try await records.noteChange()
                    throw error
                }
                let farewell = CircleFarewell(
                    address: server.text, bearer: bearer, isLeaving: false, expires: expires)
                let hasLeft: Bool
                if let known, isContinued {
                    hasLeft = try await records.signBackIn(as: known, from: bearer)
                } else if let known {
                    hasLeft = try await records.restore(known, from: bearer)
                } else {
                    let present = try await records.state()
                    hasLeft = present == nil
                    // Otherwise the user has joined again meanwhile.
                    if present?.bearer == bearer { try await records.removeAll() }
                }
                // Leaving has a farewell of its own with this bearer, which a sign-out would end.
                if !hasLeft,
                    await farewell.deliver(over: environment.transport, at: environment.time.now()) == .pending
                {
                    // Otherwise the server keeps the identity for a device that no longer has it.
                    try await records.rememberSignOut(farewell)
                }
                throw error
            }
            return joined
        }
    }

    /// Why this device does not take a membership under a number; nil where it does.
    private func refusal(of number: UInt32, at moment: Double) async throws -> CircleProblem? {
        let records = environment.records(of: server.scope)
        if let present = try await records.state() {
            // Earlier versions joined circles of other services. Joining one of them again mixes up no further people.
            guard present.number != number else { return nil }
            // Another member has agreed in the browser: that member's membership does not replace this one.
            guard present.mustJoinAgain(at: moment) else { return .alreadyJoined }
        }
        let others = try await CircleRecords.all(in: environment.vault, community: environment.community)
        for other in others where other.scope != records.scope {
            // The numbers of all circles are those of one service. What cannot be read says nothing.
            guard let state = try? await other.state(), state.number != number else { continue }
            return .otherNumber(
                number, circle: quoted(circle, limit: 80), known: state.number, in: quoted(state.circle, limit: 80))
        }
        return nil
    }

    /// Asks until the user has decided. A lost network or a 429 does not end it before its deadline: the user may be signing in.
    private func approval() async throws -> JSONObject {
        while true {
            var (problem, pause) = (CircleProblem.attemptOver, interval)
            do {
                let answer = try await server.send(
                    .post, "v1/attempts/\(attempt)/token", json: ["verifier": .string(verifier)],
                    expecting: [200, 202])
                if answer.status == 200 { return try answer.object("the membership") }
            } catch CircleProblem.network(let error) {
                problem = .network(error)
            } catch CircleProblem.tooMany(let seconds) {
                (problem, pause) = (.tooMany(seconds: seconds), max(interval, .seconds(seconds)))
            }
            let rest = deadline - environment.time.now()
            guard rest > 0 else { throw problem }
            try await environment.time.clock.sleep(for: min(pause, .seconds(rest)))
        }
    }
}

/// The dependencies of circles: vault, transport, clock and the like.
public struct CircleEnvironment: Sendable {
    let vault: any Vault
    let community: String
    let transport: any Transport
    let time: TimeSource
    /// Draws when keys are published and tables fetched.
    let random: @Sendable (ClosedRange<Double>) -> Double
    let alerts: (any Alerts)?

    /// - Parameters:
    ///   - vault: where memberships are stored.
    ///   - community: the namespace of the numbers, as for ``EncounterLog``: the name of the service that gives them.
    ///   - transport: reaches the circles' servers.
    ///   - time: the clock.
    ///   - alerts: where alerts about members may still be shown: those about who is hidden, and about all members of a circle that the user
    ///     leaves, are removed.
    ///   - random: draws a moment from a range, in seconds.
    public init(
        vault: any Vault, community: String, transport: any Transport = .platform, time: TimeSource = .system,
        alerts: (any Alerts)? = nil,
        random: @escaping @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) }
    ) {
        self.vault = vault
        self.community = community
        self.transport = transport
        self.time = time
        self.random = random
        self.alerts = alerts
    }

    var stored: StoredPeople { StoredPeople(in: vault, community: community, alerts: alerts) }

    func records(of scope: CircleScope) -> CircleRecords {
        CircleRecords(in: vault, community: community, scope: scope)
    }

    /// Runs `body`; its errors become this module's.
    static func placing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as VaultError {
            throw NearbyError.vault(error)
        } catch let error as CircleProblem {
            throw NearbyError.circle(error)
        } catch let error as CircleError {
            throw NearbyError.circle(.record(error))
        }
    }
}
