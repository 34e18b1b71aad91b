#if Sandbox
import HTTPTypes

/// Takes the text of a fault rule apart.
struct FaultRuleReader {
    private let rule: String
    private let routeText: Substring?
    private var actionText: Substring
    /// The words that name a service, or with `*` all of them.
    private let serviceWords: [String]

    init(_ text: String, services: [SandboxService.Name]) {
        rule = text
        serviceWords = services.map(\.rawValue) + ["*"]
        let parts = text.split(separator: "=>", maxSplits: 1, omittingEmptySubsequences: false)
        routeText = parts.count == 2 ? parts[0] : nil
        actionText = parts.count == 2 ? Self.trimmed(parts[1]) : ""
    }

    /// The fault that a rule without `=>` names, as in `id-token:wrong-nonce x1`; nil for any other text.
    mutating func namedFault() throws(FaultRuleError) -> NamedFault? {
        guard routeText == nil, let word = rule.split(whereSeparator: \.isWhitespace).first, word.contains(":"),
            !word.contains("/")
        else { return nil }
        guard let fault = NamedFault.named(String(word)) else { throw .nameUnknown(found: String(word)) }
        actionText = Self.trimmed(Self.trimmed(rule[...]).dropFirst(word.count))
        return fault
    }

    /// Whether nothing is left to read.
    var isAtEnd: Bool { actionText.isEmpty }

    /// Reads `[SERVICE] [METHOD] PATH`.
    func route() throws(FaultRuleError) -> (service: SandboxService.Name?, method: String?, path: String) {
        guard let routeText else { throw .arrowMissing(rule: rule) }
        let words = routeText.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let path = words.last, words.count <= 3 else {
            throw .routeUnclear(found: String(Self.trimmed(routeText)))
        }
        guard path.hasPrefix("/") || path == "*", !path.dropLast().contains("*") else {
            throw .pathUnclear(found: path)
        }
        switch words.count {
        case 1: return (nil, nil, path)
        case 2:
            if serviceWords.contains(words[0]) { return (service(words[0]), nil, path) }
            return (nil, try method(words[0]), path)
        default:
            guard serviceWords.contains(words[0]) else {
                throw .serviceUnknown(found: words[0], known: serviceWords)
            }
            return (service(words[0]), try method(words[1]), path)
        }
    }

    /// Removes `#N` and `xN` from the end of the action, in either order.
    mutating func occurrence() -> (skipped: Int, remaining: Int?) {
        let lastCount = number(after: "x")
        let position = number(after: "#")
        // What stood before `#N` is at the end now.
        let count = lastCount ?? number(after: "x")
        return (position.map { $0 - 1 } ?? 0, count ?? (position == nil ? nil : 1))
    }

    private mutating func number(after mark: Character) -> Int? {
        let words = actionText.split(whereSeparator: \.isWhitespace)
        // In “TEXT claim NAME x2” the last word is the value.
        let isValue =
            words.count == 4 && SignedTextKind(rawValue: String(words[0])) != nil
            && ["claim", "header"].contains(words[1])
        guard let last = words.last, !isValue, last.first == mark,
            let count = Int(last.dropFirst()), count > 0, last.dropFirst().allSatisfy(\.isNumber)
        else { return nil }
        actionText = Self.trimmed(actionText.dropLast(last.count))
        return count
    }

    /// Reads the action and its arguments.
    func action() throws(FaultRuleError) -> FaultRule.Action {
        let parts = actionText.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let word = parts.first.map(String.init) else { throw .actionUnknown(found: "") }
        let rest = parts.count > 1 ? String(Self.trimmed(parts[1])) : ""
        if let kind = SignedTextKind(rawValue: word) { return .signed(kind, [try signedTextChange(rest, of: word)]) }
        switch word {
        case "delay": return try delay(rest)
        case "status": return try status(rest)
        case "cut": return .cut(bytes: try count(rest, of: word))
        case "huge": return .huge(bytes: try count(rest, of: word))
        case "redirect": return try redirect(rest)
        case "header": return try header(rest)
        case "body":
            guard !rest.isEmpty else { throw Self.unclear(word, rest, "a JSON text") }
            return .body(rest)
        case "without", "null":
            guard !rest.isEmpty, !rest.contains(where: \.isWhitespace) else {
                throw Self.unclear(word, rest, "the name of a member")
            }
            return .change(word == "null" ? .null(name: rest) : .without(name: rest))
        case "member": return try member(rest)
        default:
            guard let action = Self.actionWithoutArgument(word) else { throw .actionUnknown(found: word) }
            guard rest.isEmpty else { throw Self.unclear(word, rest, "no argument") }
            return action
        }
    }

    /// `claim NAME VALUE`, `header NAME VALUE`, `sign KEY` or `late SECONDS`.
    func signedTextChange(_ text: String, of kind: String) throws(FaultRuleError) -> SignedTextChange {
        let words = text.split(maxSplits: 2, whereSeparator: \.isWhitespace).map { String(Self.trimmed($0)) }
        switch (words.first, words.count) {
        case ("claim", 3):
            if words[2] == "x2" { return .doubledClaim(name: words[1]) }
            return .claim(name: words[1], value: Self.value(words[2]))
        case ("header", 3): return .header(name: words[1], value: Self.value(words[2]))
        case ("sign", 2):
            guard let key = SignedTextKey(rawValue: words[1]) else {
                throw Self.unclear("\(kind) sign", words[1], "one of \(SignedTextKey.words)")
            }
            return .key(key)
        case ("late", 2):
            guard let seconds = Int(words[1]), (-1_000_000_000...1_000_000_000).contains(seconds) else {
                throw Self.unclear("\(kind) late", words[1], "seconds from -1000000000 to 1000000000")
            }
            return .late(seconds: seconds)
        default:
            throw Self.unclear(
                kind, text,
                "“claim NAME VALUE”, “claim NAME -”, “claim NAME x2”, “header NAME VALUE”, “sign KEY” "
                    + "or “late SECONDS”")
        }
    }

    /// A value as JSON, or as the text that it is; nil for `-`.
    private static func value(_ text: String) -> JSON? {
        // A bare nil would be the JSON value null.
        text == "-" ? Optional<JSON>.none : JSON(parsing: Array(text.utf8)) ?? .string(text)
    }

    /// The action that a word without an argument names; nil for other words.
    private static func actionWithoutArgument(_ word: String) -> FaultRule.Action? {
        switch word {
        case "garbage": .garbage
        case "drop": .drop
        case "endless": .endless
        case "empty": .empty
        case "malformed": .malformed
        case "numbers-as-strings": .change(.numbersAsStrings)
        case "strings-as-numbers": .change(.stringsAsNumbers)
        default: nil
        }
    }

    private func delay(_ rest: String) throws(FaultRuleError) -> FaultRule.Action {
        guard let seconds = Double(rest), (0...86_400).contains(seconds) else {
            throw Self.unclear("delay", rest, "seconds from 0 to 86400")
        }
        return .delay(seconds: seconds)
    }

    private func status(_ rest: String) throws(FaultRuleError) -> FaultRule.Action {
        let parts = rest.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let code = parts.first.flatMap({ Int($0) }), (200...599).contains(code) else {
            throw Self.unclear("status", rest, "a status from 200 to 599 and perhaps a body")
        }
        return .status(code, body: parts.count > 1 ? String(Self.trimmed(parts[1])) : "")
    }

    private func redirect(_ rest: String) throws(FaultRuleError) -> FaultRule.Action {
        let words = rest.split(whereSeparator: \.isWhitespace)
        let code = words.count == 2 ? Int(words[1]) : 302
        guard let url = words.first, words.count <= 2, let code, (300...399).contains(code) else {
            throw Self.unclear("redirect", rest, "a URL and perhaps a status from 300 to 399")
        }
        return .redirect(url: String(url), status: code)
    }

    private func header(_ rest: String) throws(FaultRuleError) -> FaultRule.Action {
        let parts = rest.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard parts.count == 2, HTTPField.Name(String(parts[0])) != nil else {
            throw Self.unclear("header", rest, "a field name and a value")
        }
        return .header(name: String(parts[0]), value: String(Self.trimmed(parts[1])))
    }

    private func member(_ rest: String) throws(FaultRuleError) -> FaultRule.Action {
        let parts = rest.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard parts.count == 2 else { throw Self.unclear("member", rest, "the name of a member and its value") }
        let text = String(Self.trimmed(parts[1]))
        return .change(
            .member(name: String(parts[0]), value: JSON(parsing: Array(text.utf8)) ?? .string(text)))
    }

    private func count(_ rest: String, of action: String) throws(FaultRuleError) -> Int {
        guard let bytes = Int(rest), bytes >= 0 else { throw Self.unclear(action, rest, "a number of bytes") }
        return bytes
    }

    private static func unclear(_ action: String, _ found: String, _ expected: String) -> FaultRuleError {
        .argumentUnclear(action: action, found: found, expected: expected)
    }

    private func service(_ word: String) -> SandboxService.Name? {
        word == "*" ? nil : SandboxService.Name(rawValue: word)
    }

    private func method(_ word: String) throws(FaultRuleError) -> String {
        guard word.allSatisfy({ $0.isASCII && $0.isUppercase }) else {
            throw .methodUnclear(found: word, services: serviceWords)
        }
        return word
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop(while: \.isWhitespace)
        let kept = start.reversed().drop(while: \.isWhitespace).count
        return start.prefix(kept)
    }
}
#endif
