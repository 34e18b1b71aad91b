public import IFTTTConnect

extension ConnectButtonEvent {
    /// What the event is to whoever counts, or `nil` for what the state machine itself reports and for a connection that is
    /// not known yet (dossier 7, F099).
    ///
    /// Names of services and connections are taken from the activation: what a page says chooses among them, and no more.
    ///
    /// - Parameter activation: The state machine.
    public func analyticsEvent(for activation: ConnectActivation) -> AnalyticsEvent? {
        guard let connection = activation.connection else { return nil }
        switch self {
        case .shown: return .connectionShown(connection, appName: activation.configuration.appName)
        case .footerTapped: return .footerClicked
        case .aboutShown: return .aboutShown(connection.id)
        case .aboutTapped(let item): return .aboutClicked(connection.id, button: item.button(of: connection))
        default: return nil
        }
    }
}

extension ConnectButtonEvent.AboutItem {
    /// What IFTTT calls it.
    fileprivate func button(of connection: Connection) -> String {
        switch self {
        case .primary: connection.primaryService.name
        case .connecting: connection.connectingService.name
        case .title: connection.name
        case .legal: "privacy_policy"
        case .manage: "manage"
        }
    }
}
