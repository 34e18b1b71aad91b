public import Handshake
public import OAuth

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
    /// Only with consent.
    private var queue: AnalyticsQueue?
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
            return queue?.anonymousID
        }
    }

    /// Whether the user agreed.
    public var isAllowed: Bool {
        get async { await anonymousID != nil }
    }

    /// How many events wait.
    public var waitingCount: Int { queue?.count ?? 0 }

    /// The user agrees to be counted.
    public func allow() async {
        await load()
        guard queue == nil else { return }
        queue = AnalyticsQueue(random: random)
        await save()
    }

    /// The user does not agree, or no longer: identifier and queue are deleted.
    public func refuse() async {
        await load()
        queue = nil
        await storage.save(nil)
    }

    /// Counts an event, if the user agreed.
    public func record(_ event: AnalyticsEvent) async {
        await load()
        guard queue != nil else { return }
        queue?.append(event, at: time.now())
        await save()
        if queue?.isReady == true { wakeUp.yield() }
    }

    /// Sends the oldest events that wait, at most ten, unless a request is under way already. The app calls this when it
    /// goes to the background.
    public func flush() async {
        await load()
        guard !isSending, let batch = queue?.batch else { return }
        isSending = true
        defer { isSending = false }
        do {
            try await api.report(batch)
        } catch {
            return
        }
        // Consent may have been taken back meanwhile: then there is nothing that the batch is removed from.
        queue?.remove(batch)
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
        queue = bytes.flatMap(AnalyticsQueue.init(stored:))
    }

    private func save() async {
        guard let bytes = try? queue?.stored() else { return }
        await storage.save(bytes)
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
