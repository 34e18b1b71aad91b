public import Handshake
public import OAuth

/// Counts a button's events, only with the user's consent (dossier 7; 10.2, W24).
///
/// Without consent there is no queue and no ID: ``anonymousID`` is nil, and nothing is sent. Withdrawing consent deletes
/// both immediately, and a pending answer restores nothing. Consenting again creates a new ID.
///
/// At most 100 events are queued; beyond that, the oldest is dropped. They are sent while ``run()`` runs, when five are queued
/// and every 30 seconds, and when the app enters the background: at most ten per request, one request at a time. Events that
/// could not be sent stay queued. An app calls ``run()`` itself; no button does.
public actor Analytics {
    private let api: ConnectAPI
    private let storage: AnalyticsStorage
    private let time: TimeSource
    private let random: RandomSource
    /// Nil without consent.
    private var queue: AnalyticsQueue?
    private var isLoaded = false
    private var loading: Task<[UInt8]?, Never>?
    /// The task that saves, and whether there are unsaved changes.
    private var saving: Task<Void, Never>?
    private var isUnsaved = false
    private var sending: Task<Void, Never>?
    /// Wakes ``run()`` when enough events are queued; nil while it does not run.
    private var wakeUp: AsyncStream<Void>.Continuation?
    private nonisolated let turns = RunTurns()

    /// The maximum number of queued events.
    public static let maximumPending = 100
    /// The number of queued events that triggers sending.
    public static let enoughToSend = 5
    /// The maximum number of events per request.
    public static let maximumPerRequest = 10

    /// Creates the queue. Nothing is counted before ``allow()``, in this run or an earlier one.
    ///
    /// - Parameters:
    ///   - api: sends events, without a token.
    ///   - storage: stores consent and queue.
    ///   - time: the clock.
    ///   - random: draws the ID.
    public init(
        to api: ConnectAPI, storage: AnalyticsStorage = .none, time: TimeSource = .system,
        random: RandomSource = .system
    ) {
        self.api = api
        self.storage = storage
        self.time = time
        self.random = random
    }

    /// The installation's anonymous ID; nil without consent. It stays the same until consent is withdrawn.
    public var anonymousID: AnonymousID? {
        get async {
            await load()
            return queue?.anonymousID
        }
    }

    /// Whether the user consented.
    public var isAllowed: Bool {
        get async { await anonymousID != nil }
    }

    /// The number of queued events.
    public var waitingCount: Int { queue?.count ?? 0 }

    /// Records the user's consent.
    public func allow() async {
        await load()
        guard queue == nil else { return }
        queue = AnalyticsQueue(random: random)
        await save()
    }

    /// Withdraws consent: deletes ID and queue.
    public func refuse() async {
        await load()
        queue = nil
        await save()
    }

    /// Counts an event, if the user consented. It is saved when this returns.
    public func record(_ event: AnalyticsEvent) async {
        await note(event)
        await saving?.value
    }

    /// Counts an event, if the user consented, without waiting until it is saved: slow storage must not delay the user.
    func note(_ event: AnalyticsEvent) async {
        await load()
        guard queue != nil else { return }
        queue?.append(event, at: time.now())
        beginSaving()
        if queue?.isReady == true { wakeUp?.yield() }
    }

    /// Sends the queue, oldest first, until it is empty or a request fails. A request has at most ten events. Also
    /// called at ``ConnectActivation/Event/enteredBackground``. Concurrent flushes share one run.
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
            // Consent may have been withdrawn meanwhile: then there is no queue to remove the batch from.
            queue?.remove(batch)
            await save()
        }
        sending = nil
    }

    /// Sends until the task is cancelled. It sends when enough events are queued and every 30 seconds. Only one run is
    /// active; a second one returns immediately, but waits for a cancelled one that is still ending.
    public func run() async {
        await turns.perform { await runAlone() }
    }

    private func runAlone() async {
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

    /// Loads the stored state once; callers wait for it, because without it consent is unknown.
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

    /// Saves the newest state, one write at a time, so that a slow older write never comes last.
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
    /// Draws an ID: a random UUID (RFC 9562, section 5.4).
    init?(random: RandomSource) {
        var bytes = random.bytes(16)
        guard bytes.count == 16 else { return nil }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.init(rawValue: uuidText(bytes))
    }
}

/// Sixteen bytes as a UUID in capitals.
func uuidText(_ bytes: [UInt8]) -> String {
    bytes.enumerated().map { index, byte in
        ([4, 6, 8, 10].contains(index) ? "-" : "") + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
}
