public import Handshake
public import OAuth

/// Counts what happens to a button, if the user agreed, and not a thing otherwise (dossier 7; 10.2, W24).
///
/// Without consent there is no queue and no identifier: ``anonymousID`` is nil, and nothing is sent. Taking consent back
/// deletes both immediately; an answer that is under way can bring nothing back. Giving it again makes a new identifier.
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
    private var loading: Task<[UInt8]?, Never>?
    /// The one who writes, and whether there is something that was not written yet.
    private var saving: Task<Void, Never>?
    private var isUnsaved = false
    private var sending: Task<Void, Never>?
    /// Tells the run that enough waits; nil while there is none.
    private var wakeUp: AsyncStream<Void>.Continuation?

    /// How many events wait at most.
    public static let maximumPending = 100
    /// How many waiting events are sent together.
    public static let enoughToSend = 5
    /// How many events one request has at most.
    public static let maximumPerRequest = 10

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
        await save()
    }

    /// Counts an event, if the user agreed. It is saved when this returns.
    public func record(_ event: AnalyticsEvent) async {
        await note(event)
        await saving?.value
    }

    /// Counts an event, if the user agreed, without waiting until it is saved: a slow storage must not hold up the user.
    func note(_ event: AnalyticsEvent) async {
        await load()
        guard queue != nil else { return }
        queue?.append(event, at: time.now())
        beginSaving()
        if queue?.isReady == true { wakeUp?.yield() }
    }

    /// Sends what waits, the oldest first and at most ten at a time, until nothing waits or a request fails. It is done at
    /// ``ConnectActivation/Event/enteredBackground``, too. While one flush is at work, another one waits for it.
    public func flush() async {
        await load()
        let sending = self.sending ?? Task { await sendAll() }
        self.sending = sending
        await sending.value
    }

    private func sendAll() async {
        while let batch = queue?.batch {
            do {
                try await api.report(batch)
            } catch {
                break
            }
            // Consent may have been taken back meanwhile: then there is nothing that the batch is removed from.
            queue?.remove(batch)
            await save()
        }
        sending = nil
    }

    /// Sends whenever there is enough, and every 30 seconds, until the task is cancelled. Runs once at a time; a second run
    /// returns immediately.
    public func run() async {
        guard wakeUp == nil else { return }
        let (wakeUps, wakeUp) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.wakeUp = wakeUp
        await load()
        if queue?.isReady == true { wakeUp.yield() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in wakeUps { await self.flush() }
            }
            group.addTask { [clock = time.clock] in
                while (try? await clock.sleep(for: .seconds(30))) != nil { await self.flush() }
            }
        }
        self.wakeUp = nil
    }

    /// Everybody waits for the one look at the storage: who went on before it would decide on what is not known yet.
    private func load() async {
        guard !isLoaded else { return }
        let loading = self.loading ?? Task { [storage] in await storage.load() }
        self.loading = loading
        let bytes = await loading.value
        guard !isLoaded else { return }
        isLoaded = true
        self.loading = nil
        queue = bytes.flatMap(AnalyticsQueue.init(stored:))
    }

    private func save() async {
        await beginSaving().value
    }

    /// One writes at a time, and what is newest: a slow write of what was before never comes last.
    @discardableResult
    private func beginSaving() -> Task<Void, Never> {
        isUnsaved = true
        if let saving { return saving }
        let task = Task { await write() }
        saving = task
        return task
    }

    private func write() async {
        while isUnsaved {
            isUnsaved = false
            guard let queue else {
                await storage.save(nil)
                continue
            }
            if let bytes = try? queue.stored() { await storage.save(bytes) }
        }
        saving = nil
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
