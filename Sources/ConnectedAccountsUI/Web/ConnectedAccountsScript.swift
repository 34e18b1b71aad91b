import HandshakeEmbeddedFiles
import OAuth
import Translations

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The web component `<connected-accounts>`, a module without dependencies.
public enum ConnectedAccountsScript {
    /// The module's bytes; serve them as `text/javascript`.
    ///
    /// The texts and the actions of each state stand before the component's own code: the same that SwiftUI draws.
    public static let javaScript = Data((embedded + "\n").utf8) + Data(.connectedAccountsScript)

    /// The constants of the module that come from Swift.
    private static var embedded: String {
        let words = object(InterfaceLocale.allCases.map { ($0.tag, Self.words(in: $0)) })
        let states = object(ConnectedAccount.State.allCases.map { ($0.rawValue, description(of: $0)) })
        return "const WORDS = \(words.json)\nconst STATES = \(states.json)"
    }

    private static func words(in locale: InterfaceLocale) -> JSONValue {
        object(
            ConnectedAccountsWords.allCases.map { words in
                let text = ConnectedAccountsWords.catalogue[words.rawValue]?[locale.tag]?.form("other")
                return (words.rawValue, .string(text ?? words.rawValue))
            })
    }

    private static func description(of state: ConnectedAccount.State) -> JSONValue {
        .object([
            "words": .string(state.words.rawValue), "isConnected": .bool(state.isConnected),
            "needsAttention": .bool(state.needsAttention),
            "actions": .array(state.actions.map { .string($0.rawValue) }),
        ])
    }

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(JSONObject(members.map { (key: $0, value: $1) }))
    }
}
