#if Sandbox
import SandboxCore
import Synchronization

/// The imports that wait for their second step (Sequencing dossier, section 3).
///
/// A class, since the first step opens what the second one ends. Ids count from `s-91`.
final class ImportSessions: Sendable {
    /// An import that waits.
    struct Session: Sendable, Equatable {
        let subject: String
        let service: String
        let login: String
    }

    private struct State: Sendable {
        var open: [String: Session] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    func begin(_ session: Session) -> String {
        state.withLock { state in
            let id = "s-\(91 + state.count)"
            state.count += 1
            state.open[id] = session
            return id
        }
    }

    /// Ends the session of this id, if it is this user's at this service.
    func end(_ id: String?, subject: String, service: String) -> Session? {
        state.withLock { state in
            guard let id, let session = state.open[id], session.subject == subject, session.service == service else {
                return nil
            }
            state.open[id] = nil
            return session
        }
    }
}
#endif
