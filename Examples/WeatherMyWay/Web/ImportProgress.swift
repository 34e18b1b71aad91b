#if Server && Sandbox
import Foundation
import OAuth
import Sequencing

/// Where an import of genetic data stands. No password is ever part of it.
enum ImportProgress: Sendable {
    case none
    /// 23andMe asks a security question about a login.
    case question(ThirdPartyImport.SecurityQuestion, login: String)
    /// Ancestry has mailed a link to the owner of a login.
    case link(ThirdPartyImport.AncestrySession, login: String)
    /// The answer or the link is on its way.
    case answering
    /// Sequencing.com fetches the data.
    case running(UnfinishedImport)
    case done(GeneticFile)
    /// Several imports ran, and nothing shows which of these files is this one's.
    case oneOf([GeneticFile])
    /// The wait is over, and the file is not in the list yet. The text says why, unless the time was over.
    case late(UnfinishedImport, String?)
    case failed(String)

    /// How the page learns of it.
    var json: JSONObject {
        switch self {
        case .none: ["state": .string("none")]
        case .question(let question, _): ["state": .string("question"), "text": .string(question.text)]
        case .link: ["state": .string("link")]
        case .answering: ["state": .string("answering")]
        case .running(let started):
            ["state": .string("running"), "source": .string(started.source.rawValue)]
        case .done(let file): ["state": .string("done"), "files": .array([.string(file.displayName)])]
        case .oneOf(let files):
            ["state": .string("one-of"), "files": .array(files.map { .string(Self.name($0)) })]
        case .late(_, let reason):
            reason.map { ["state": .string("late"), "text": .string($0)] } ?? ["state": .string("late")]
        case .failed(let reason): ["state": .string("failed"), "text": .string(reason)]
        }
    }

    /// A file among others of the same name.
    fileprivate static func name(_ file: GeneticFile) -> String { "\(file.displayName) (\(file.id))" }

    /// Whether it waits for the user's answer or link.
    var isWaiting: Bool {
        switch self {
        case .question, .link: true
        default: false
        }
    }

    /// The import whose file it waits for, or has waited for.
    var awaited: UnfinishedImport? {
        switch self {
        case .running(let started), .late(let started, _): started
        default: nil
        }
    }

    /// An import that has not started.
    init(refused outcome: ThirdPartyImport.Outcome) { self = .failed(outcome.problem ?? "") }
}

extension Visit {
    /// How the page learns of the imports.
    var imported: JSONObject {
        var told = importing.json
        if !arrived.isEmpty { told["also"] = .array(arrived.map { .string($0.displayName) }) }
        if !uncertain.isEmpty {
            told["also_one_of"] = .array(uncertain.map { .array($0.map { .string(ImportProgress.name($0)) }) })
        }
        told["followed"] = .number("\(waits.count)")
        return told
    }
}

/// Imports for the app's users: starts them, and waits for their files.
struct Imports: Sendable {
    private let visitors: Visitors
    private let session: String
    /// The visit that sees the progress, not a later one of another user.
    private let visit: Visit

    init(_ visitors: Visitors, _ session: String) {
        self.visitors = visitors
        self.session = session
        visit = visitors.visit(session)
    }

    /// Starts an import with the user's login at the third party. The password is held during this request only.
    func start(
        _ source: ThirdPartyImport.Source, login: String, password: Secret, _ unfinished: UnfinishedImports,
        _ imports: ThirdPartyImport
    ) async throws {
        let credentials = try ThirdPartyImport.Credentials(login: login, password: password)
        let attempt = begin()
        switch source {
        case .twentyThreeAndMe:
            let (answer, started) = try await unfinished.noting(source, login: login) {
                try await imports.from23andMe(credentials)
            }
            switch answer {
            case .question(let question): show(.question(question, login: login), attempt)
            case .ended(let outcome): follow((outcome, started), unfinished, attempt)
            }
        case .ancestry:
            switch try await imports.authorizeAncestry(credentials) {
            case .linkMailed(let link): show(.link(link, login: login), attempt)
            case .ended(let outcome): show(ImportProgress(refused: outcome), attempt)
            }
        }
    }

    /// Goes on with the answer to the security question, or with the link from the mail.
    ///
    /// Only one tab does: it takes the question away. One that could not be answered comes back.
    func answer(_ text: String, _ unfinished: UnfinishedImports, _ imports: ThirdPartyImport) async throws {
        let attempt = begin()
        var waiting = ImportProgress.none
        visitors.change(session) {
            guard $0.number == visit.number, $0.importing.isWaiting else { return }
            waiting = $0.importing
            ($0.importing, $0.attempts.shown) = (.answering, attempt)
        }
        do {
            switch waiting {
            case .question(let question, let login):
                let ended = try await unfinished.noting(.twentyThreeAndMe, login: login) {
                    try await imports.answer(text, to: question)
                }
                follow(ended, unfinished, attempt)
            case .link(let link, let login):
                let ended = try await unfinished.noting(.ancestry, login: login) {
                    try await imports.download(text, in: link)
                }
                follow(ended, unfinished, attempt)
            default: break
            }
        } catch {
            show(waiting, attempt)
            throw error
        }
    }

    /// Waits in the background until the import's own file is in the list.
    private func follow(
        _ ended: (outcome: ThirdPartyImport.Outcome, started: UnfinishedImport?), _ unfinished: UnfinishedImports,
        _ attempt: Int
    ) {
        guard let started = ended.started else { return show(ImportProgress(refused: ended.outcome), attempt) }
        show(.running(started), attempt)
        change { $0.waits[started.key] = Task { await wait(for: started, unfinished, attempt) } }
    }

    /// Looks once, in the background, for the files of imports that no wait follows any more.
    func look(_ unfinished: UnfinishedImports) async throws {
        for late in try await unfinished.all {
            change {
                guard $0.isKnown, $0.waits[late.key] == nil else { return }
                let attempt = $0.importing.awaited?.key == late.key ? $0.attempts.shown : nil
                $0.waits[late.key] = Task { await look(for: late, unfinished, attempt) }
            }
        }
    }

    private func look(for late: UnfinishedImport, _ unfinished: UnfinishedImports, _ attempt: Int?) async {
        switch try? await unfinished.arrival(of: late, polling: Polling(timeout: .zero)) {
        case .file(let file)?: end(late, .done(file), attempt) { $0.arrived.append(file) }
        case .oneOf(let files)?: end(late, .oneOf(files), attempt) { $0.uncertain.append(files) }
        case .late?, nil: change { $0.waits[late.key] = nil }
        }
    }

    private func wait(for started: UnfinishedImport, _ unfinished: UnfinishedImports, _ attempt: Int) async {
        let polling = Polling(firstInterval: .seconds(1), maximumInterval: .seconds(5), timeout: .seconds(600))
        do {
            switch try await unfinished.arrival(of: started, polling: polling) {
            case .file(let file): end(started, .done(file), attempt) { $0.arrived.append(file) }
            case .oneOf(let files): end(started, .oneOf(files), attempt) { $0.uncertain.append(files) }
            case .late: end(started, .late(started, nil), attempt) { _ in }
            }
        } catch {
            let reason = "The import runs, but its progress cannot be seen: \(error)"
            end(started, .late(started, Task.isCancelled ? nil : reason), attempt) { _ in }
        }
    }

    /// Gives up an import whose file will not come. One whose file has come meanwhile stays as it is.
    func giveUp(_ key: String, _ unfinished: UnfinishedImports) async throws {
        guard let lost = try await unfinished.all.first(where: { $0.key == key }) else { return }
        // A wait that goes on could take another import's file for this one's.
        var wait: Task<Void, Never>?
        change { wait = $0.waits[key] }
        wait?.cancel()
        await wait?.value
        try await unfinished.forget(lost)
        change { if $0.importing.awaited?.key == key { $0.importing = .none } }
    }

    /// How the page learns of the imports, with all whose files have not come.
    func told(_ unfinished: UnfinishedImports) async throws -> JSONObject {
        let left = try await unfinished.all
        let visit = visitors.visit(session)
        var told = visit.imported
        // After a sign-in the list may be another user's.
        guard visit.number == self.visit.number, visit.isKnown else { return told }
        told["unfinished"] = .array(
            left.map {
                .object([
                    "key": .string($0.key), "source": .string($0.source.rawValue),
                    "started": .number("\(Int($0.started.timeIntervalSince1970))"),
                ])
            })
        return told
    }

    /// Begins a request for an import, and returns its number.
    private func begin() -> Int {
        var attempt = 0
        change {
            $0.attempts.begun += 1
            attempt = $0.attempts.begun
        }
        return attempt
    }

    /// Shows how an attempt went on, unless a later one is shown.
    private func show(_ progress: ImportProgress, _ attempt: Int) {
        change { $0.show(progress, attempt) }
    }

    /// Shows how an import ended, or reports it beside another one that is shown.
    ///
    /// - Parameter attempt: the attempt that started it; nil when none of this visit that is shown did.
    private func end(
        _ ended: UnfinishedImport, _ progress: ImportProgress, _ attempt: Int?, beside tell: (inout Visit) -> Void
    ) {
        change {
            $0.waits[ended.key] = nil
            guard let attempt, $0.show(progress, attempt) else { return tell(&$0) }
        }
    }

    /// Changes the visit, unless another one has begun.
    private func change(_ body: (inout Visit) -> Void) {
        visitors.change(session) { if $0.number == visit.number { body(&$0) } }
    }
}

extension Visit {
    /// Shows how an attempt went on.
    ///
    /// - Returns: false when a later one is shown.
    @discardableResult
    fileprivate mutating func show(_ progress: ImportProgress, _ attempt: Int) -> Bool {
        guard attempt >= attempts.shown else { return false }
        (importing, attempts.shown) = (progress, attempt)
        return true
    }
}
#endif
