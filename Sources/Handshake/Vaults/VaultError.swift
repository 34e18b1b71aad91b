import AsyncSupport

/// Why a vault cannot do what it was asked. Nothing is ever deleted because of an error.
public enum VaultError: Error, Sendable, Hashable {
    /// The vault is intact, but cannot be opened now. Its key is missing, or a keyring is locked.
    case locked(String)
    /// A record, or the vault's own description, is not what was written. `what` names it without secrets.
    case damaged(what: String, reason: String)
    /// The operating system or the vault's own checks forbid it: owner, mode, links. `what` names the file or item.
    case denied(what: String, reason: String)
    /// Another task or process held the record for longer than the vault waits.
    case busy(String)
    /// The storage itself failed: disk full, input/output error, connection lost.
    case unavailable(String)
}

extension VaultError {
    /// Whether other records may well be readable. One may lack its key while others have theirs.
    package var isOfOneRecord: Bool {
        switch self {
        case .damaged, .locked, .busy: true
        case .denied, .unavailable: false
        }
    }
}

extension VaultError: CustomStringConvertible {
    /// A case without its texts.
    enum Kind: String, CaseIterable {
        case locked = "vault_locked"
        case damaged = "vault_damaged"
        case denied = "vault_denied"
        case busy = "vault_busy"
        case unavailable = "vault_unavailable"
    }

    private var kind: Kind {
        switch self {
        case .locked: .locked
        case .damaged: .damaged
        case .denied: .denied
        case .busy: .busy
        case .unavailable: .unavailable
        }
    }

    /// A stable word for programs.
    public var code: String { kind.rawValue }

    public var description: String {
        switch self {
        case .locked(let reason): "The vault is locked: \(reason.clause)."
        case .damaged(let what, let reason):
            "In the vault, \(what) is damaged: \(reason.clause). It is left as it is. Restore it from a backup."
        case .denied(let what, let reason): "The vault cannot use “\(what)”: \(reason)"
        case .busy(let what): "Another task or process has locked \(what) for too long. Try again."
        case .unavailable(let reason): "The vault's storage failed: \(reason.clause)."
        }
    }
}
