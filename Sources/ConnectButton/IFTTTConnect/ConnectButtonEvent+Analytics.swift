public import IFTTTConnect

extension ConnectButtonEvent {
    /// The analytics event, or `nil` when there is none (dossier 7, F099). There is none for events that the state
    /// machine itself reports, and while the connection is not known.
    ///
    /// Names of services and connections come from the activation: a page can only choose among them.
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
    /// IFTTT's name of the item.
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
