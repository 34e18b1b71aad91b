public import Handshake
public import OAuth

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Counts what happens to a button, if the user agreed, and not a thing otherwise (dossier 7; 10.2, W24).
///
/// Without consent there is no queue and no identifier: ``anonymousID`` is nil, and nothing is sent. Taking consent back
/// deletes both at once; an answer that is under way can bring nothing back. Giving it again makes a new identifier.
///
/// At most 100 events wait; then the oldest goes. They are sent when five wait, every 30 seconds while ``run()`` runs, and
/// when the app goes to the background; at most ten at a time, one request after the other. What could not be sent stays.
public actor Analytics {
    private let api: ConnectAPI
    private let storage: AnalyticsStorage
    private let time: TimeSource
    private let random: RandomSource
    private var state = Stored()
    private var isLoaded = false
    private var isSending = false
    private let wakeUp: AsyncStream<Void>.Continuation
    private let wakeUps: AsyncStream<Void>

    /// How many events wait at most.
    public static let mostWaiting = 100
    /// How many waiting events are sent at once.
    public static let enoughToSend = 5
    /// How many events one request has at most.
    public static let mostInOneRequest = 10

    /// What rests in the storage.
    private struct Stored: Codable {
        var anonymousID: AnonymousID?
        var waiting: [Waiting] = []
        var lastNumber: UInt64 = 0
    }

    private struct Waiting: Codable {
        /// Counts the events of this identifier, so that what was sent is known again.
        let number: UInt64
        let event: AnalyticsEvent
        /// Milliseconds since 1970.
        let timestamp: Int64

        var json: JSONValue {
            .object([
                "name": .string(event.name.rawValue), "timestamp": .string(String(timestamp)),
                "properties": event.properties,
            ])
        }
    }

    /// Prepares counting. Nothing is counted before ``allow()``, in this run or in one before.
    ///
    /// - Parameters:
    ///   - api: where events are sent; no token goes with them.
    ///   - storage: where consent and queue rest.
    ///   - time: what time it is, and how one waits.
    ///   - random: where the identifier comes from.
    public init(
        to api: ConnectAPI, storage: AnalyticsStorage = .none, time: TimeSource = .system,
        random: RandomSource = .system
    ) {
        self.api = api
        self.storage = storage
        self.time = time
        self.random = random
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The installation's identifier; nil without consent. The same from the consent on until it is taken back.
    public var anonymousID: AnonymousID? {
        get async {
            await load()
            return state.anonymousID
        }
    }

    /// Whether the user agreed.
    public var isAllowed: Bool {
        get async { await anonymousID != nil }
    }

    /// How many events wait.
    public var waitingCount: Int { state.waiting.count }

    /// The user agrees to be counted.
    public func allow() async {
        await load()
        guard state.anonymousID == nil else { return }
        state.anonymousID = AnonymousID(random: random)
        await save()
    }

    /// The user does not agree, or no longer: identifier and queue are deleted.
    public func refuse() async {
        await load()
        state = Stored()
        await storage.save(nil)
    }

    /// Counts an event, if the user agreed.
    public func record(_ event: AnalyticsEvent) async {
        await load()
        guard state.anonymousID != nil else { return }
        state.lastNumber += 1
        state.waiting.append(
            Waiting(number: state.lastNumber, event: event, timestamp: Self.milliseconds(time.now())))
        if state.waiting.count > Self.mostWaiting {
            state.waiting.removeFirst(state.waiting.count - Self.mostWaiting)
        }
        await save()
        if state.waiting.count >= Self.enoughToSend { wakeUp.yield() }
    }

    /// Sends the oldest events that wait, at most ten, unless a request is under way already. The app calls this when it
    /// goes to the background.
    public func flush() async {
        await load()
        guard !isSending, let id = state.anonymousID, !state.waiting.isEmpty else { return }
        isSending = true
        defer { isSending = false }
        let batch = state.waiting.prefix(Self.mostInOneRequest)
        do {
            try await api.report(.object(["events": .array(batch.map(\.json))]), as: id)
        } catch {
            return
        }
        // Consent may have been taken back meanwhile, or the oldest may have gone to make room.
        guard state.anonymousID == id else { return }
        let sent = Set(batch.map(\.number))
        state.waiting.removeAll { sent.contains($0.number) }
        await save()
    }

    /// Sends whenever there is enough, and every 30 seconds, until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [wakeUps] in
                for await _ in wakeUps { await self.flush() }
            }
            group.addTask { [clock = time.clock] in
                while (try? await clock.sleep(for: .seconds(30))) != nil { await self.flush() }
            }
        }
    }

    private func load() async {
        guard !isLoaded else { return }
        isLoaded = true
        let bytes = await storage.load()
        guard let bytes, let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes)) else { return }
        state = stored
        state.waiting = stored.anonymousID == nil ? [] : stored.waiting.suffix(Self.mostWaiting)
    }

    private func save() async {
        guard state.anonymousID != nil, let bytes = try? JSONEncoder().encode(state) else { return }
        await storage.save(Array(bytes))
    }

    private static func milliseconds(_ seconds: Double) -> Int64 {
        // A clock that is no clock must not stop an app.
        seconds.isFinite && abs(seconds) < 1e14 ? Int64((seconds * 1000).rounded(.down)) : 0
    }
}

extension AnonymousID {
    /// Draws an identifier: a random UUID (RFC 9562, section 5.4).
    init?(random: RandomSource) {
        var bytes = random.bytes(16)
        guard bytes.count == 16 else { return nil }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.init(rawValue: uuidText(bytes))
    }
}

/// Sixteen bytes in the text form of a UUID, in capitals.
func uuidText(_ bytes: [UInt8]) -> String {
    bytes.enumerated().map { index, byte in
        ([4, 6, 8, 10].contains(index) ? "-" : "") + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
}
