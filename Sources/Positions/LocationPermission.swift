/// What the user allows, and what an app does next to have regions monitored.
///
/// Monitoring needs ``always``; with ``whenInUse`` regions silently do nothing, so that state is a step on the way and not the end of it.
public enum LocationPermission: String, Sendable, Hashable, CaseIterable {
    case notDetermined, restricted, denied, whenInUse, always

    /// Whether the system delivers regions' events.
    public var canMonitorRegions: Bool { self == .always }

    /// Whether the system delivers positions while the app is in use.
    public var canReadPosition: Bool { self == .always || self == .whenInUse }

    /// What the app does next.
    public enum Step: String, Sendable, Hashable {
        /// Nothing: everything is allowed.
        case none
        /// Nothing yet: no area needs the permission.
        case wait
        /// Explain what the position is for, then request it while in use. The app explains it in its own words.
        case explainAndRequestWhenInUse
        /// Show that areas need the position always, then request that. The system asks once.
        case explainAndRequestAlways
        /// The system asks no more: show what is missing, with a way to the settings.
        case openSettings
        /// A parent or a company forbids it; only say so.
        case explainRestriction
    }

    /// The next step.
    ///
    /// - Parameters:
    ///   - needsRegions: whether the user has configured an area. Default areas of a connection do not count.
    ///   - hasRequestedAlways: whether the system asked for ``always`` before.
    public func nextStep(needsRegions: Bool, hasRequestedAlways: Bool) -> Step {
        guard needsRegions else { return self == .always ? .none : .wait }
        switch self {
        case .always: return .none
        case .notDetermined: return .explainAndRequestWhenInUse
        case .whenInUse: return hasRequestedAlways ? .openSettings : .explainAndRequestAlways
        case .denied: return .openSettings
        case .restricted: return .explainRestriction
        }
    }
}
