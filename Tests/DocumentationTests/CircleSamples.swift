import Beacons
import Circles
import Handshake
import HandshakeServer
import Hummingbird
import Nearby
import Radio
import RecurseCenter

/// The code of the pages about circles and pairing, compiled; `CodeTests` compares. It needs a server and a second device, so it is not run.
private enum CircleSamples {
    static func member(_ now: UInt64) throws {
        let keys = MemberKeys()
        let scope = CircleScope(circleAt: "https://circle.example/rc")
        let record = try MemberRecord(signedBy: keys, in: scope, number: 759, at: now)
        try record.check(in: scope, of: 759, at: now)
    }

    static func pair(_ join: [UInt8], _ card: PairingCard, _ now: UInt64) throws -> [[UInt8]?] {
        var session = PairingSession(offeringAt: now)  // show session.code
        let reveal = try session.receive(join, at: now)  // send it; show session.digits
        let sealed = try session.confirm(with: card, at: now)  // send it
        return [reveal, sealed]
    }

    static func pair(
        _ keys: RollingKeys, show: (String) -> Void, ask: (String) async throws -> Bool
    ) async throws -> UserNumber {
        let exchange = PairingExchange(offeringOver: try PairingConnection())
        show(exchange.code.text)
        let card = try await exchange.finish(
            isSame: { try await ask($0) },
            card: { try await keys.pairingCard(in: $0, number: nil, name: "Ada Example", at: .now()) })
        let person = try await keys.addPaired(card, at: .now())
        return person
    }

    static func join(_ environment: CircleEnvironment, show: (String, String) -> Void) async throws -> Recognition {
        let joining = try await CircleJoining.begin(at: "https://circle.example/rc", in: environment)
        show(joining.code, joining.page)
        let circle = try await joining.finish()
        var recognition = Recognition()
        for (trust, keys) in try await circle.dayKeys() { recognition.add(keys, trust: trust, in: circle.scope) }
        async let _: Void = circle.keepSynchronized { print($0 as Any) }
        return recognition
    }

    static func send(over radio: some Radio, in vault: any Vault) async throws {
        let scopes = try await OwnScopes(in: vault, community: "recurse-center", at: .now())
        try await radio.advertise(Broadcasts(rolling: scopes.sent)) { print($0) }
    }

    static func watch(
        over radio: some Radio, in vault: any Vault, alerts: some Alerts
    ) async throws -> PeopleVault.Ending {
        let ending = try await PeopleNearby.watch(in: vault, community: "recurse-center") { period in
            let known = try await KnownPeople(in: CircleEnvironment(vault: period, community: "recurse-center"))
            return WatchPlan(
                known, over: radio, sending: known.broadcasts, alerts: alerts, radioEvent: { print($0) },
                report: { print($0) })
        }
        return ending
    }

    static func serve(
        at address: PublicAddress, in vault: any Vault, handshake: Handshake, on router: Router<BasicRequestContext>
    ) async throws {
        let circle = try await MemberCircle(named: "Recurse Center", at: address, in: vault)
        let routes = try CircleRoutes<BasicRequestContext>(
            circle, joiningThrough: handshake, address: CircleRoutes.forwardedAddress
        ) { account in
            let profile = try await RecurseCenter(account).profile(.me)
            return CircleApplicant(number: UInt32(profile.id.number), name: profile.name, batch: profile.batchLabel)
        }
        routes.add(to: router.group("rc"))
        try await circle.remove(6703)  // the bearers end, and all others publish new keys
    }
}
