#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a Connect Button shows. The web component and SwiftUI draw this one value identically.
///
/// It holds no secret and no timer, and it says nothing about the locale or the colour scheme: `ConnectButtonFace` and
/// `ConnectButtonPalette` add those. As JSON it is the `state` of ``ConnectButtonAnswer``. Source: IFTTT dossier 4.4.
public struct ConnectButtonState: Sendable, Hashable, Codable {
    /// Which row of the dossier's table 4.4 is shown.
    public var step: Step
    /// The connection, once it is known.
    public var connection: ConnectButtonConnection?
    /// The address in the email field, before the user types. If it is not empty and invalid, the field shows the error.
    public var email: String?
    /// How many addresses were refused so far. An increase is drawn as a refusal, even of the same address.
    public var refusals = 0
    /// The last error, shown in the footer until the next step.
    public var failure: ConnectButtonFailure?
    /// The progress of the work that the user waits for.
    public var progress: ConnectButtonProgress
    /// The time in which a disconnection can be undone.
    public var undo: ConnectButtonUndo?
    /// Whether the user can cancel what is in progress.
    public var isCancellable: Bool
    /// The step that the switch leads to, if known: a drag previews it. It is a hint; the answer decides.
    public var next: Step?
    /// The page that manages the connection at IFTTT. The About page links to it while connected.
    public var manageURL: URL?
    /// The app's set-up page of a pending connection. `nil` where the page or the app opens it itself, or
    /// ``manageURL`` is opened instead.
    public var setUpURL: URL?
    /// The store page of the IFTTT app, when the app is known to be missing.
    public var storeURL: URL?
    /// IFTTT's privacy and terms; `nil` when unknown.
    public var termsURL: URL?

    /// Creates a state.
    ///
    /// - Parameters:
    ///   - step: The row of table 4.4.
    ///   - connection: The connection, or `nil` while unknown.
    ///   - email: The suggested or typed address.
    ///   - failure: The last error.
    ///   - progress: The progress of the work.
    ///   - undo: The time in which a disconnection can be undone.
    ///   - isCancellable: Whether the user can cancel what is in progress.
    ///   - next: The step that the switch leads to.
    ///   - manageURL: The page that manages the connection.
    ///   - storeURL: The store page of the IFTTT app, when the app is missing.
    ///   - termsURL: Privacy and terms.
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

    /// A row of the dossier's table 4.4. *Invalid email* is ``email`` with a failure, and the check mark is the animation of
    /// ``connected``, not a step of its own.
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
        /// The user's account is being looked up.
        case verifying
        /// IFTTT is creating an account. Shown only when the user is known to have none (W5).
        case creatingAccount = "creating_account"
        /// The user is at the service, in the IFTTT app, or on the way there.
        case goingToService = "going_to_service"
        /// The user is back and the connection is being fetched.
        case connecting
        /// On.
        case connected
        /// On, but not working until the app has configured it (W15).
        case pending
        /// The user is asked whether to disconnect (W1).
        case confirmDisconnect = "confirm_disconnect"
        /// Being turned off, or waiting for the end of ``ConnectButtonState/undo``.
        case disconnecting
        /// Just turned off.
        case disconnected
    }
}

/// The progress of the work that a user waits for. What cannot be measured is indeterminate (W4).
public enum ConnectButtonProgress: Sendable, Hashable, Codable {
    /// No work.
    case none
    /// Unknown progress.
    case indeterminate
    /// The completed fraction, from 0 to 1.
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

/// The time in which a disconnection can be undone. Seconds, not a date: the two clocks can differ.
public struct ConnectButtonUndo: Sendable, Hashable, Codable {
    /// The remaining seconds.
    public let remaining: Double
    /// The total seconds.
    public let total: Double

    /// Creates an undo time. Both numbers are clamped to at least 0, and the remaining to the total.
    ///
    /// - Parameters:
    ///   - remaining: The remaining seconds.
    ///   - total: The total seconds.
    public init(remaining: Double, total: Double) {
        self.total = total.isFinite ? max(total, 0) : 0
        self.remaining = remaining.isFinite ? min(max(remaining, 0), self.total) : 0
    }
}
