#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a Connect Button shows: one value, drawn alike by the web component and by SwiftUI.
///
/// It holds no secret and no timer, and it says nothing about the locale or the colour scheme: `ConnectButtonFace` and
/// `ConnectButtonPalette` add those. As JSON it is the `state` of ``ConnectButtonAnswer``. Source: IFTTT dossier 4.4.
public struct ConnectButtonState: Sendable, Hashable, Codable {
    /// Which row of the dossier's table 4.4 is shown.
    public var step: Step
    /// The connection, once it is known.
    public var connection: ConnectButtonConnection?
    /// The address in the email field, before the user types. It may be empty or wrong: then the field says so.
    public var email: String?
    /// How many addresses were refused so far. One more is drawn as a refusal, also of the same address.
    public var refusals = 0
    /// What went wrong last, shown in the footer until the next step.
    public var failure: ConnectButtonFailure?
    /// How far the work is that the user waits for.
    public var progress: ConnectButtonProgress
    /// The time in which a disconnection can be taken back.
    public var undo: ConnectButtonUndo?
    /// Whether the user can end what is going on.
    public var isCancellable: Bool
    /// Where the switch leads, as far as it is known: a drag shows it coming. It is a hint; the answer decides.
    public var next: Step?
    /// Where the user manages the connection at IFTTT; the About page shows it while connected.
    public var manageURL: URL?
    /// Where the app's set-up of a pending connection is; `nil` where the page or the app opens it itself.
    public var setUpURL: URL?
    /// Where the user gets the IFTTT app, when it is known to be missing.
    public var storeURL: URL?
    /// Where IFTTT tells of privacy and terms; `nil` when that is not known.
    public var termsURL: URL?

    /// A state of the button.
    ///
    /// - Parameters:
    ///   - step: The row of table 4.4.
    ///   - connection: The connection, or `nil` while it is not known.
    ///   - email: The suggested or typed address.
    ///   - failure: What went wrong last.
    ///   - progress: How far the work is.
    ///   - undo: The time in which a disconnection can be taken back.
    ///   - isCancellable: Whether the user can end what is going on.
    ///   - next: Where the switch leads.
    ///   - manageURL: Where the connection is managed.
    ///   - storeURL: Where the IFTTT app is, when it is missing.
    ///   - termsURL: Where privacy and terms are told of.
    public init(
        _ step: Step, connection: ConnectButtonConnection? = nil, email: String? = nil,
        failure: ConnectButtonFailure? = nil, progress: ConnectButtonProgress = .none, undo: ConnectButtonUndo? = nil,
        isCancellable: Bool = false, next: Step? = nil, manageURL: URL? = nil, storeURL: URL? = nil,
        termsURL: URL? = nil
    ) {
        self.step = step
        self.connection = connection
        self.email = email
        self.failure = failure
        self.progress = progress
        self.undo = undo
        self.isCancellable = isCancellable
        self.next = next
        self.manageURL = manageURL
        self.storeURL = storeURL
        self.termsURL = termsURL
    }

    /// A row of the dossier's table 4.4. *Invalid email* is ``email`` with a failure, and the check mark is how
    /// ``connected`` arrives, not a step that anybody waits for.
    public enum Step: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing is drawn and no room is taken.
        case hidden
        /// The connection is being fetched.
        case loading
        /// The connection could not be fetched; the failure says why.
        case loadingFailed = "loading_failed"
        /// Off.
        case connect
        /// The user is asked for an email address.
        case email
        /// It is being found out who the user is.
        case verifying
        /// IFTTT is told to make an account. Shown only when it is known that there is none (W5).
        case creatingAccount = "creating_account"
        /// The user is at the service, in the IFTTT app, or on the way there.
        case goingToService = "going_to_service"
        /// The user is back and the connection is being read.
        case connecting
        /// On.
        case connected
        /// Made, but not working until the app has configured it (W15).
        case pending
        /// The user is asked whether to disconnect (W1).
        case confirmDisconnect = "confirm_disconnect"
        /// Being turned off, or waiting for the end of ``ConnectButtonState/undo``.
        case disconnecting
        /// Just turned off.
        case disconnected
    }
}

/// How far the work is that a user waits for. The button invents nothing: what cannot be measured is indeterminate (W4).
public enum ConnectButtonProgress: Sendable, Hashable, Codable {
    /// Nothing is waited for.
    case none
    /// It is not known how far.
    case indeterminate
    /// The part that is done, from 0 to 1.
    case fraction(Double)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let fraction = try? container.decode(Double.self) {
            self = fraction.isFinite ? .fraction(min(max(fraction, 0), 1)) : .indeterminate
        } else {
            self = (try? container.decode(String.self)) == "indeterminate" ? .indeterminate : .none
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .none: try container.encode("none")
        case .indeterminate: try container.encode("indeterminate")
        case .fraction(let fraction): try container.encode(fraction.isFinite ? min(max(fraction, 0), 1) : 0)
        }
    }
}

/// The time in which a disconnection can be taken back. Seconds, not a date: the two clocks need not agree.
public struct ConnectButtonUndo: Sendable, Hashable, Codable {
    /// Seconds that are left.
    public let remaining: Double
    /// Seconds that there were.
    public let total: Double

    /// Time to take a disconnection back. Both numbers are at least 0, and no more is left than there was.
    ///
    /// - Parameters:
    ///   - remaining: Seconds that are left.
    ///   - total: Seconds that there were.
    public init(remaining: Double, total: Double) {
        self.total = total.isFinite ? max(total, 0) : 0
        self.remaining = remaining.isFinite ? min(max(remaining, 0), self.total) : 0
    }
}
