#if Sandbox
import SandboxCore
import Synchronization

/// All files of one sandbox: the fixtures, and what was imported while it ran.
///
/// A class, since imports and Connect add to what the file list shows.
final class FileLibrary: Sendable {
    /// How long an import takes on the sandbox's clock before its file is in the list (Sequencing dossier, sections 3
    /// and 12, question 8: an import reports nothing, its file appears).
    static let importDuration = 30.0
    /// How long the import of the login `slow` takes.
    static let slowImportDuration = 90.0

    private struct Arrival: Sendable {
        let subject: String
        let file: GeneticFile
        let at: Double
    }

    private let clock: SandboxClock
    private let arrivals = Mutex<[Arrival]>([])

    init(clock: SandboxClock) {
        self.clock = clock
    }

    /// Lets a file appear among a user's uploads after some seconds; ids count from 300001 in the order of the starts.
    func receive(_ name: String, type: String, for subject: String, after seconds: Double = importDuration) {
        let now = clock.now
        arrivals.withLock { arrivals in
            let file = GeneticFile(
                id: 300_001 + arrivals.count, name: name, category: .uploaded, dateAdded: "2017-05-01T12:00:00",
                type: type)
            arrivals.append(Arrival(subject: subject, file: file, at: now + seconds))
        }
    }

    /// The user's own files, imports last.
    func own(subject: String) -> [GeneticFile] {
        let now = clock.now
        let arrived = arrivals.withLock { $0.filter { $0.subject == subject && $0.at <= now }.map(\.file) }
        return OwnFiles.of(subject: subject) + arrived
    }

    /// Sample files, then the user's own.
    func all(subject: String) -> [GeneticFile] {
        SampleFiles.all + own(subject: subject)
    }

    /// A file that the user has, with or without the `FILE:` prefix of old ids (Sequencing dossier, section 4.1).
    func file(_ id: String, subject: String) -> GeneticFile? {
        let digits = id.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
        guard let number = Int(digits) else { return nil }
        return all(subject: subject).first { $0.id == number }
    }

    /// A file for an app chain or a download.
    ///
    /// - Throws: 404 for a file that the user does not have, 403 when the token is not for this kind of file.
    func file(_ id: String, for caller: Access.Caller) throws(APIRefusal) -> GeneticFile {
        guard let file = file(id, subject: caller.user.subject) else { throw .fileNotFound }
        try caller.demand(file.category == .community ? .demo : .external)
        return file
    }
}
#endif
