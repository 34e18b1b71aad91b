#if Sandbox
/// Why a text is not a fault rule. Each case says what was found, the description what was expected.
public enum FaultRuleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no `=>` between the route and the action.
    case arrowMissing(rule: String)
    /// Before `=>` there is no path, or there are more than three words.
    case routeUnclear(found: String)
    /// The first of three words names no service.
    case serviceUnknown(found: String, known: [String])
    /// The word before the path is neither a service nor a method in capital letters.
    case methodUnclear(found: String, services: [String])
    /// The path does not begin with a slash, or its `*` is not the last character.
    case pathUnclear(found: String)
    /// No fault has this name.
    case nameUnknown(found: String)
    /// The action is none of those that ``FaultRule`` lists.
    case actionUnknown(found: String)
    /// An action's argument is missing or of the wrong kind.
    case argumentUnclear(action: String, found: String, expected: String)

    /// What was found and what was expected instead.
    public var description: String {
        switch self {
        case .arrowMissing(let rule):
            "A fault rule reads “[SERVICE] [METHOD] PATH => ACTION [#N] [xN]”, and “\(rule)” has no “=>”."
        case .routeUnclear(let found):
            "Before “=>” expected “[SERVICE] [METHOD] PATH”, found “\(found)”."
        case .serviceUnknown(let found, let known):
            "Expected a service (\(known.joined(separator: ", "))), found “\(found)”."
        case .methodUnclear(let found, let services):
            "Expected a service (\(services.joined(separator: ", "))) or a method in capital letters, found “\(found)”."
        case .pathUnclear(let found):
            "Expected a path that begins with “/” and may end in “*”, found “\(found)”."
        case .actionUnknown(let found):
            "Expected an action (delay, status, cut, garbage, drop, redirect, endless, huge, header, body, empty, malformed, "
                + "numbers-as-strings, strings-as-numbers, without, null, member, or a signed text: id_token, response, "
                + "userinfo, introspection, logout_token), found “\(found)”."
        case .nameUnknown(let found):
            "Expected the name of a fault, such as id-token:wrong-nonce, found “\(found)”. “handshake sandbox --faults” "
                + "lists them."
        case .argumentUnclear(let action, let found, let expected):
            "The action “\(action)” expects \(expected), found “\(found)”."
        }
    }
}
#endif
