import BusFixtures
import Crypto
import DBus
import TestFixtures
import Testing

@testable import DesktopServices

@Suite("Secrets in transit")
struct KeyAgreementTests {
    static func bytes(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.utf8.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
    }

    /// Computed with Python's integers and hmac, and with openssl's cipher.
    static let publicKey = bytes(
        "457120764f3a1e6fd58103e41a4093a6c8bc1d97cb8759de41c21afdd2d3048a5ef3d88ce24aa6ba4fe30bcfb0b0f75abf1a8aeaff3723f1"
            + "bf53740c902005e1199fabad7c538e94a7034fd585339a02f3634893f748929d2a7257643e398130541ae64124c17d4507a97f1cbebe"
            + "b7b933642b8df479eb59e36cfeffbf1671dd")
    static let peerKey = bytes(
        "caf4066d13a82d33073d634b384a52ecb18f26ad655bfe6efb3e46db4079f52db44e2f12d501d4e25ec9a605a1e5cd4bce52e756b15438e2"
            + "3b5062c01404474381fc84118a64db5ed4218493c740d343f8f44ea705978d0543e95df4713327cce30da1f62f27e5cca37a56ad6bbd"
            + "a018fdc5e183d44e7d388bd4a66d85281d05")
    static let agreement = KeyAgreement(random: Array(1...32))

    @Test("both sides find the same key, and it seals as openssl does")
    func vector() throws {
        #expect(Self.agreement.publicKey == Self.publicKey)
        let key = try Self.agreement.sharedKey(with: Self.peerKey)
        #expect(key.key.withUnsafeBytes { Array($0) } == Self.bytes("a54dc3f28a55915a9677240800378037"))
        let peer = try KeyAgreement(random: (1...32).reversed()).sharedKey(with: Self.publicKey)
        #expect(peer.key == key.key)
        let sealed = try key.seal(Array("tok-12345".utf8), vector: Array(0..<16))
        #expect(sealed == Self.bytes("da9675fa83155c4d7c2be73be97502e7"))
        #expect(try key.open(sealed, vector: Array(0..<16)) == Array("tok-12345".utf8))
    }

    @Test("a public key that would make the shared one predictable is refused", arguments: [0, 1, 2, 3])
    func degenerate(number: Int) {
        var last = KeyAgreement.primeBytes
        last[127] -= 1
        let keys: [[UInt8]] = [[0], [1], last, KeyAgreement.primeBytes]
        #expect(throws: DesktopServicesError.self) { try Self.agreement.sharedKey(with: keys[number]) }
    }

    @Test("what was sealed with another key or is cut off is an error")
    func damaged() throws {
        let key = try Self.agreement.sharedKey(with: Self.peerKey)
        #expect(throws: DesktopServicesError.self) { try key.open([1, 2, 3], vector: Array(0..<16)) }
        #expect(throws: DesktopServicesError.self) { try key.open([UInt8](repeating: 0, count: 16), vector: [1]) }
        #expect(throws: DesktopServicesError.self) { try key.seal([1], vector: []) }
    }

    @Test("a secret does not print itself")
    func redacted() {
        let secret = SecretValue("tok-12345".utf8)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret) \(String(reflecting: secret)) \(dumped)".contains("tok") == false)
        #expect("\(SecretService.Lookup.found(secret))".contains("116") == false)
    }
}

@Suite(
    "The Secret Service over a bus", .heavy, .enabled(if: Tool.areInstalled(.busDaemon), "dbus-daemon is not installed")
)
struct SecretServiceBusTests {
    static let attributes = ["service": "example", "account": "sandbox"]

    @Test("without a service that is said by its type")
    func noService() async throws {
        let bus = try await BusDaemon()
        await #expect(throws: DesktopServicesError.noSecretService) {
            _ = try await SecretService.open(on: try await bus.connect())
        }
    }

    /// How a search lists the item of the service.
    enum Listing: Sendable {
        case locked, unlocked, nowhere
    }

    /// A service that has no cipher, whose prompts are never answered, and that returns, stores and deletes no secret.
    ///
    /// - Parameters:
    ///   - listing: How a search lists its item.
    ///   - collectionIsLocked: Whether its other collection is locked; nil without collections. Its default one never is.
    ///   - answersIsLocked: Whether it answers with an error where others leave a secret out.
    ///   - prompted: Called with the service when a prompt is shown.
    static func exportLockedService(
        on bus: BusDaemon, listing: Listing = .locked, collectionIsLocked: Bool? = nil, answersIsLocked: Bool = false,
        prompted: @escaping @Sendable (Connection) -> Void = { _ in }
    ) async throws -> Connection {
        let service = try await bus.connect()
        let isLocked = RemoteError("org.freedesktop.Secret.Error.IsLocked", "it is locked")
        let collection: ObjectPath = "/org/freedesktop/secrets/collection"
        let other: ObjectPath = "/org/freedesktop/secrets/other"
        let path = Argument("path", .objectPath)
        let paths = ValueType.array(.objectPath)
        let secret = ValueType.structure([.objectPath, .array(.byte), .array(.byte), .string])
        let item: ObjectPath = "/org/freedesktop/secrets/item"
        let main = ExportedInterface(
            SecretService.interface,
            methods: [
                ExportedMethod(
                    "OpenSession", takes: [Argument("algorithm", .string), Argument("input", .variant)],
                    returns: [Argument("output", .variant), path]
                ) { call in
                    guard call.arguments.first == "plain" else { throw RemoteError(.notSupported, "no cipher") }
                    return [.variant(""), .objectPath("/org/freedesktop/secrets/session/1")]
                },
                ExportedMethod(
                    "SearchItems", takes: [Argument("attributes", .dictionary(key: .string, value: .string))],
                    returns: [Argument("unlocked", paths), Argument("locked", paths)]
                ) { _ in
                    let unlocked: [ObjectPath] = listing == .unlocked ? [item] : []
                    let locked: [ObjectPath] = listing == .locked ? [item] : []
                    return [unlocked.value, locked.value]
                },
                ExportedMethod(
                    "GetSecrets", takes: [Argument("items", paths), Argument("session", .objectPath)],
                    returns: [Argument("secrets", .dictionary(key: .objectPath, value: secret))]
                ) { _ in
                    if answersIsLocked { throw isLocked }
                    return [.dictionary([], key: .objectPath, value: secret)]
                },
                ExportedMethod(
                    "Unlock", takes: [Argument("objects", paths)], returns: [Argument("unlocked", paths), path]
                ) { _ in [[ObjectPath]().value, .objectPath("/org/freedesktop/secrets/prompt/1")] },
                ExportedMethod("ReadAlias", takes: [Argument("name", .string)], returns: [path]) { _ in
                    [.objectPath(collectionIsLocked == nil ? "/" : collection)]
                },
            ],
            properties: [ExportedProperty("Collections", [collection, other].value)])
        let properties = Argument("properties", .dictionary(key: .string, value: .variant))
        let items = ExportedInterface(
            SecretService.collectionInterface,
            methods: [
                ExportedMethod(
                    "CreateItem", takes: [properties, Argument("secret", secret), Argument("replace", .boolean)],
                    returns: [path, Argument("prompt", .objectPath)]
                ) { _ in throw isLocked }
            ],
            properties: [ExportedProperty("Locked", false)])
        let others = ExportedInterface(
            SecretService.collectionInterface, methods: [],
            properties: [ExportedProperty("Locked", .boolean(collectionIsLocked ?? false))])
        let deletion = ExportedInterface(
            SecretService.itemInterface,
            methods: [ExportedMethod("Delete", returns: [path]) { _ in throw isLocked }])
        let prompt = ExportedInterface(
            "org.freedesktop.Secret.Prompt",
            methods: [
                ExportedMethod("Prompt", takes: [Argument("window", .string)]) { [weak service] _ in
                    if let service { prompted(service) }
                    return []
                },
                ExportedMethod("Dismiss") { [weak service] _ in
                    try service?.emit(Signal(path: "/dismissed", interface: "org.example.Prompt", member: "Dismissed"))
                    return []
                },
            ])
        try service.export([main], at: "/org/freedesktop/secrets")
        try service.export([prompt], at: "/org/freedesktop/secrets/prompt/1")
        try service.export([items], at: collection)
        try service.export([others], at: other)
        try service.export([deletion], at: item)
        #expect(try await service.requestName(SecretService.name))
        return service
    }

    @Test("without a cipher secrets go plainly, and an unanswered prompt is dismissed in time")
    func prompt() async throws {
        let bus = try await BusDaemon()
        let service = try await Self.exportLockedService(on: bus)
        let connection = try await bus.connect()
        var dismissals = try await connection.signals(matching: MatchRule(interface: "org.example.Prompt"))
            .makeAsyncIterator()
        let secrets = try await SecretService.open(on: connection, prompting: .upTo(.milliseconds(1)))
        #expect(secrets.transfer == .plain)
        guard case .locked = try await secrets.lookup(Self.attributes) else {
            Issue.record("a locked item was read")
            return
        }
        #expect(try await dismissals.next()?.member == "Dismissed")
        #expect(try await secrets.delete(Self.attributes) == .locked)
        _ = service
    }

    @Test("BE-26: a secret that the keyring leaves out of its answer is locked, not absent")
    func leftOut() async throws {
        let bus = try await BusDaemon()
        let service = try await Self.exportLockedService(on: bus, listing: .unlocked)
        let secrets = try await SecretService.open(on: try await bus.connect(), prompting: .never)
        let found = try await secrets.lookup(Self.attributes)
        guard case .locked = found else {
            Issue.record("the look-up gave \(found)")
            return
        }
        _ = service
    }

    @Test(
        "BE-26: what is not found is locked, not absent, while a collection is locked that may have it",
        arguments: zip([true, false], [SecretService.Change.locked, .absent]))
    func notFound(isLocked: Bool, expected: SecretService.Change) async throws {
        let bus = try await BusDaemon()
        let service = try await Self.exportLockedService(on: bus, listing: .nowhere, collectionIsLocked: isLocked)
        let secrets = try await SecretService.open(on: try await bus.connect(), prompting: .never)
        let found = try await secrets.lookup(Self.attributes)
        switch (found, isLocked) {
        case (.locked, true), (.absent, false): break
        default: Issue.record("the look-up gave \(found)")
        }
        #expect(try await secrets.delete(Self.attributes) == expected)
        _ = service
    }

    @Test("BE-26: a secret that the keyring refuses as locked is locked, not unavailable")
    func refused() async throws {
        let bus = try await BusDaemon()
        let service = try await Self.exportLockedService(
            on: bus, listing: .unlocked, collectionIsLocked: false, answersIsLocked: true)
        let secrets = try await SecretService.open(on: try await bus.connect(), prompting: .never)
        let found = try await secrets.lookup(Self.attributes)
        guard case .locked = found else {
            Issue.record("the look-up gave \(found)")
            return
        }
        let change = try await secrets.store(SecretValue([1]), label: "x", attributes: Self.attributes)
        #expect(change == .locked)
        #expect(try await secrets.delete(Self.attributes) == .locked)
        _ = service
    }

    @Test("BE-26: a keyring that stops before it has shown its prompt is said to have stopped")
    func stoppedEarlier() async throws {
        let bus = try await BusDaemon()
        let service = try await Self.exportLockedService(on: bus) { $0.close() }
        let secrets = try await SecretService.open(on: try await bus.connect(), prompting: .upTo(.seconds(30)))
        await #expect(throws: DesktopServicesError.secretServiceStopped) { try await secrets.lookup(Self.attributes) }
        _ = service
    }

    @Test("BE-26: a keyring that stops while it asks is told of immediately")
    func stopped() async throws {
        let bus = try await BusDaemon()
        let (prompts, prompted) = AsyncStream.makeStream(of: Void.self)
        let service = try await Self.exportLockedService(on: bus) { _ in prompted.yield() }
        let connection = try await bus.connect()
        let secrets = try await SecretService.open(on: connection, prompting: .upTo(.seconds(30)))
        let lookup = Task { try await secrets.lookup(Self.attributes) }
        for await _ in prompts { break }
        // The object answers in turn, so its prompt has been answered when this call has.
        let prompt = connection.object("/org/freedesktop/secrets/prompt/1", of: SecretService.name)
        try await prompt.call("Prompt", in: "org.freedesktop.Secret.Prompt", [""])
        service.close()
        await #expect(throws: DesktopServicesError.secretServiceStopped) { try await lookup.value }
    }

    @Test("BE-26: a look-up that is cancelled while the keyring asks says so, and dismisses the prompt")
    func cancelled() async throws {
        let bus = try await BusDaemon()
        let (prompts, prompted) = AsyncStream.makeStream(of: Void.self)
        let service = try await Self.exportLockedService(on: bus) { _ in prompted.yield() }
        let connection = try await bus.connect()
        let dismissals = try await connection.signals(matching: MatchRule(interface: "org.example.Prompt"))
        let secrets = try await SecretService.open(on: connection, prompting: .upTo(.seconds(30)))
        let lookup = Task { try await secrets.lookup(Self.attributes) }
        for await _ in prompts { break }
        lookup.cancel()
        await #expect(throws: CancellationError.self) { try await lookup.value }
        // The object answers in turn: what was sent to it before has been carried out, and its signal precedes the reply.
        let prompt = connection.object("/org/freedesktop/secrets/prompt/1", of: SecretService.name)
        try await prompt.call("Prompt", in: "org.freedesktop.Secret.Prompt", [""])
        connection.close()
        var count = 0
        do {
            for try await _ in dismissals { count += 1 }
        } catch DBusError.connectionLost {}
        #expect(count == 1)
        _ = service
    }

    @Test("without a default collection nothing can be stored")
    func noCollection() async throws {
        let bus = try await BusDaemon()
        let service = try await Self.exportLockedService(on: bus)
        let secrets = try await SecretService.open(on: try await bus.connect(), prompting: .never)
        let change = try await secrets.store(SecretValue([1]), label: "x", attributes: Self.attributes)
        #expect(change == .noCollection)
        _ = service
    }
}

@Suite(
    "Against gnome-keyring", .heavy,
    .enabled(
        if: Tool.areInstalled(.busDaemon, .keyring, .secretTool),
        "dbus-daemon, gnome-keyring-daemon or secret-tool is not installed"), .serialized)
struct KeyringTests {
    static let attributes = ["service": "example", "account": "sandbox"]

    @Test("a secret is kept, replaced, read by secret-tool, and deleted")
    func life() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        let keyring = try await bus.startKeyring(password: "test-password")
        defer { keyring.end() }
        let secrets = try await SecretService.open(on: connection, prompting: .never)
        #expect(secrets.transfer == .encrypted)
        guard case .absent = try await secrets.lookup(Self.attributes) else {
            Issue.record("a secret was there before")
            return
        }
        #expect(try await secrets.delete(Self.attributes) == .absent)
        for token in ["tok-1", "tok-12345"] {
            let change = try await secrets.store(
                SecretValue(token.utf8), label: "Example token", attributes: Self.attributes)
            #expect(change == .done)
        }
        let query = ["lookup", "service", "example", "account", "sandbox"]
        #expect(try await bus.run(.secretTool, query) == "tok-12345\n")
        #expect(try await Self.text(secrets) == "tok-12345")
        #expect(try await secrets.delete(Self.attributes) == .done)
        let after = await (try bus.start(.secretTool, query)).finish()
        #expect(after.status == 1)
    }

    @Test("a secret that secret-tool stored is read")
    func foreign() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        let keyring = try await bus.startKeyring(password: "test-password")
        defer { keyring.end() }
        _ = try await bus.run(
            .secretTool, ["store", "--label=Example", "service", "example", "account", "sandbox"], input: "äöü")
        let secrets = try await SecretService.open(on: connection, prompting: .never)
        #expect(try await Self.text(secrets) == "äöü")
    }

    @Test("with a wrong password the secret is locked, not absent, and nothing is stored (beacons 10.3)")
    func locked() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        let first = try await bus.startKeyring(password: "test-password")
        let open = try await SecretService.open(on: connection, prompting: .never)
        let value = SecretValue("tok".utf8)
        #expect(try await open.store(value, label: "x", attributes: Self.attributes) == .done)
        await first.stop()
        let second = try await bus.startKeyring(password: "wrong")
        defer { second.end() }
        let secrets = try await SecretService.open(on: connection, prompting: .never)
        guard case .locked = try await secrets.lookup(Self.attributes) else {
            Issue.record("a locked item was read")
            return
        }
        #expect(try await secrets.store(value, label: "x", attributes: Self.attributes) == .locked)
        #expect(try await secrets.delete(Self.attributes) == .locked)
    }

    static func text(_ secrets: SecretService) async throws -> String? {
        guard case .found(let secret) = try await secrets.lookup(attributes) else { return nil }
        return String(decoding: secret.reveal(), as: UTF8.self)
    }
}
