import FileSelector
import Foundation

/// The chosen file of one user, kept across launches.
struct KeptChoice: Sendable, Codable {
    /// Who chose: the subject of the user's identity.
    let owner: String
    let choice: RememberedChoice

    /// Where the choice of the last user is kept.
    struct Store: Sendable {
        let read: @MainActor @Sendable () -> Data?
        let write: @MainActor @Sendable (Data?) -> Void

        /// The choice of a user. What another user or an unknown one chose is not read.
        @MainActor func choice(of user: String?) -> RememberedChoice? {
            guard let user, let kept = read().flatMap({ try? JSONDecoder().decode(KeptChoice.self, from: $0) }) else {
                return nil
            }
            return kept.owner.utf8.elementsEqual(user.utf8) ? kept.choice : nil
        }

        /// Keeps the choice of a user in place of any other; forgets it for an unknown user or without a choice.
        @MainActor func keep(_ choice: RememberedChoice?, of user: String?) {
            guard let choice, let user else { return write(nil) }
            write(try? JSONEncoder().encode(KeptChoice(owner: user, choice: choice)))
        }
    }
}
