public import Handshake

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The imports of an account whose files have not been seen (dossier 3.4).
///
/// They are in a vault. An answer says only that an import has started, and the service links no file to its import. So note every
/// import, and wait for its own file, in this process or in another:
///
/// ```swift
/// let unfinished = UnfinishedImports(of: genome, in: vault)
/// var started: UnfinishedImport?
/// let login = try await unfinished.noting(.twentyThreeAndMe, login: name) {
///     try await imports.from23andMe(.init(login: name, password: password))
/// }
/// switch login.answer {
/// case .question(let question):
///     started = try await unfinished.noting(.twentyThreeAndMe, login: name) {
///         try await imports.answer(ask(question.text), to: question)
///     }.started
/// case .ended: started = login.started
/// }
/// ```
///
/// Wait for the file of an import that has started:
///
/// ```swift
/// guard let started else { return }
/// switch try await unfinished.arrival(of: started, polling: Polling(timeout: .seconds(600))) {
/// case .file(let file): show("New: \(file.displayName)")
/// case .oneOf(let files): show("Your file is one of these: \(files.map(\.displayName))")
/// case .late: show("Look again later.")
/// }
/// ```
///
/// Imports that were started elsewhere (on the website, by another app) are not in the vault. Where their files cannot be distinguished from
/// this import's, ``ImportArrival/oneOf(_:)`` says so.
public struct UnfinishedImports: Sendable {
    /// How long an import counts as unfinished when its file does not come: a day.
    public static let lifetime: TimeInterval = 86_400
    /// The maximum number of imports. Those started first are forgotten first.
    public static let limit = 20

    private let genome: Sequencing
    private let stored: StoredList<UnfinishedImport>

    /// - Parameters:
    ///   - genome: the user's account.
    ///   - vault: holds the list, encrypted.
    public init(of genome: Sequencing, in vault: any Vault) {
        self.genome = genome
        stored = StoredList(.imports, of: genome.account.id, in: vault)
    }

    /// The imports whose files are awaited, the oldest first.
    ///
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be read.
    public var all: [UnfinishedImport] {
        get async throws { try await list(at: Date()).filter(\.isAwaited) }
    }

    /// Runs a call that may start an import, and notes the import if it does.
    ///
    /// Lists the files immediately before the call. An import whose answer is lost stays noted: it may run. A retry with the
    /// same login is the same import.
    ///
    /// - Parameters:
    ///   - source: the third party.
    ///   - login: the user's login there; files may be named by it. Nil if unknown.
    ///   - time: the time of the start.
    ///   - call: the call, for example ``ThirdPartyImport/answer(_:to:)``.
    /// - Returns: the outcome, and the import if it has started.
    /// - Throws: what `call` and ``Sequencing/files(_:)`` throw; ``SequencingError/account(_:)`` when the vault cannot be
    ///   written.
    public func noting(
        _ source: ThirdPartyImport.Source, login: String?, at time: Date = Date(),
        _ call: () async throws -> ThirdPartyImport.Outcome
    ) async throws -> (outcome: ThirdPartyImport.Outcome, started: UnfinishedImport?) {
        try await noting(source, login, time, call) { $0 == .started }
    }

    /// Runs a login at 23andMe, and notes an import that starts without a question.
    ///
    /// - Throws: what the other ``noting(_:login:at:_:)`` throws.
    public func noting(
        _ source: ThirdPartyImport.Source, login: String?, at time: Date = Date(),
        _ call: () async throws -> ThirdPartyImport.Login
    ) async throws -> (answer: ThirdPartyImport.Login, started: UnfinishedImport?) {
        try await noting(source, login, time, call) { $0 == .ended(.started) }
    }

    private func noting<Answer>(
        _ source: ThirdPartyImport.Source, _ login: String?, _ time: Date, _ call: () async throws -> Answer,
        hasStarted: (Answer) -> Bool
    ) async throws -> (Answer, UnfinishedImport?) {
        let noted = try await begin(source, login, time)
        let answer: Answer
        do {
            answer = try await call()
        } catch {
            if Self.startedNothing(error) {
                try await forget(noted)
            } else {
                // If the vault cannot be written, this attempt and earlier ones stay separate imports.
                _ = try? await joinAttempts(at: noted, isConfirmed: false)
            }
            throw error
        }
        guard hasStarted(answer) else {
            try await forget(noted)
            return (answer, nil)
        }
        return (answer, try await joinAttempts(at: noted, isConfirmed: true))
    }

    /// Joins an attempt with earlier ones at the same import whose answers were lost.
    ///
    /// If the attempt was forgotten during the call, it stays forgotten: it was given up, or another user has signed in.
    private func joinAttempts(at noted: UnfinishedImport, isConfirmed: Bool) async throws -> UnfinishedImport {
        try await settle { imports in
            guard let place = imports.firstIndex(where: { $0.isSame(as: noted) }) else { return noted }
            var joined = imports[place]
            for lost in imports where lost.isLostAttempt(at: joined) { joined.known.formIntersection(lost.known) }
            joined.isConfirmed = isConfirmed
            imports[place] = joined
            imports.removeAll { [joined] in $0.isLostAttempt(at: joined) }
            return joined
        }
    }

    /// Whether a failed call has certainly started nothing.
    private static func startedNothing(_ error: any Error) -> Bool {
        switch error as? SequencingError {
        case .input: true
        case .service(let status, _, _): (400..<500).contains(status)
        case .account(.network(let problem)): !problem.mayHaveArrived
        case .account(.signInRequired), .account(.demanded): true
        default: false
        }
    }

    /// Notes an import before its start, with the files that exist before it: its baseline.
    ///
    /// The import is stored before the files are read. A file that another wait finds meanwhile is then added to its known files.
    private func begin(
        _ source: ThirdPartyImport.Source, _ login: String?, _ time: Date
    ) async throws -> UnfinishedImport {
        let noted = try await change { imports in
            let id = (imports.map(\.id).max() ?? 0) + 1
            imports.append(UnfinishedImport(id: id, source: source, started: time, account: login))
            return imports[imports.count - 1]
        }
        do {
            let files = Set(try await genome.files(Self.subset).map(\.id))
            return try await change { imports in
                let place = imports.firstIndex { $0.isSame(as: noted) }
                var ready = place.map { imports[$0] } ?? noted
                ready.known.formUnion(files)
                ready.hasBaseline = true
                if let place { imports[place] = ready }
                return ready
            }
        } catch {
            // Nothing was started. If the import cannot be removed, it is still never awaited: it has no baseline.
            try? await forget(noted)
            throw error
        }
    }

    /// Waits for an import's own file. Only the list of files shows that an import has finished.
    ///
    /// An import that has ended is no longer in ``all``. One that is late stays there: wait for it again.
    ///
    /// - Parameters:
    ///   - started: an import that `noting` returned, or one of ``all``.
    ///   - polling: interval and deadline; an import can take minutes.
    /// - Throws: what ``Sequencing/files(_:)`` throws; ``SequencingError/account(_:)`` when the vault cannot be read or written.
    public func arrival(of started: UnfinishedImport, polling: Polling? = nil) async throws -> ImportArrival {
        var wait = (polling ?? genome.polling).start(on: genome.clock)
        while true {
            // Reads the imports after the files, so that the import of every listed file is among them.
            let files = try await genome.files(Self.subset)
            // As of this import's start, not now: however long the wait takes, no other import that may add a file expires.
            var imports = try await list(at: started.started).filter { $0.source == started.source && $0.hasBaseline }
            if !imports.contains(where: started.isSame) { imports.append(started) }
            let matching = ImportMatching(imports, files)
            if let arrival = matching.arrival(of: started.id) {
                try await end(started, with: arrival)
                return arrival
            }
            guard try await wait.pause() else { return .late(candidates: matching.candidates(of: started.id)) }
        }
    }

    /// Gives up an import whose file will not come. Other imports then do not wait for it.
    ///
    /// Cancel a wait for it first: one that goes on can take another import's file for this one's. If its own file comes after all, it
    /// counts as the file of another import that is awaited.
    ///
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be written.
    public func forget(_ abandoned: UnfinishedImport) async throws {
        try await settle { imports in imports.removeAll { $0.isSame(as: abandoned) } }
    }

    /// Forgets all imports of an account. Call it when the user signs out, and when another user signs in.
    ///
    /// - Throws: ``SequencingError/account(_:)`` when the vault cannot be written; `CancellationError`.
    public static func forget(_ account: AccountID, in vault: any Vault) async throws {
        try await StoredList<UnfinishedImport>(.imports, of: account, in: vault).remove()
    }

    private static let subset: FileSubset = [.uploaded, .shared, .fromApps]

    /// Removes an import whose file is known, which then is known to all others, or notes which files may be its own.
    private func end(_ ended: UnfinishedImport, with arrival: ImportArrival) async throws {
        try await settle { imports in
            switch arrival {
            case .file(let file):
                imports.removeAll { $0.isSame(as: ended) }
                for place in imports.indices { imports[place].known.insert(file.id) }
            case .oneOf(let files):
                guard let place = imports.firstIndex(where: { $0.isSame(as: ended) }) else { return }
                imports[place].possible = Set(files.map(\.id))
            case .late: break
            }
        }
    }

    /// Changes the list also in a task that is cancelled: what the service has answered stays known.
    private func settle<Result: Sendable>(
        _ body: @escaping @Sendable (inout [UnfinishedImport]) -> Result
    ) async throws -> Result {
        try await Task { try await change(body) }.value
    }

    private func list(at time: Date) async throws -> [UnfinishedImport] {
        Self.living(try await stored.elements, at: time)
    }

    private func change<Result: Sendable>(
        _ body: @Sendable (inout [UnfinishedImport]) -> Result
    ) async throws -> Result {
        try await stored.change { imports in
            let result = body(&imports)
            imports = Self.living(imports, at: imports.map(\.started).max() ?? .distantPast)
            // An ended import is kept only while another one from its source is awaited: see `UnfinishedImport.possible`.
            let sources = Set(imports.filter { $0.possible == nil }.map(\.source))
            imports.removeAll { !sources.contains($0.source) }
            return result
        }
    }

    private static func living(_ imports: [UnfinishedImport], at time: Date) -> [UnfinishedImport] {
        imports.filter { time.timeIntervalSince($0.started) < lifetime }.suffix(limit)
    }
}
