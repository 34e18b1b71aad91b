import Handshake

@testable import PostgresVault

/// ACQUIRE, WANT, REPLACE, RENEW and both RELEASEs of the vault, read from ``PostgresTexts`` and carried out on one lease in memory.
///
/// It knows as much of SQL as what these change in the lease needs, and refuses any other. Of REPLACE it reads the lease's part: that the record is
/// written only where the lease was is looked at as text. Which keys seal is not looked at.
final class LeaseStatements {
    enum Value: Equatable {
        case null
        case int(Int64)
        case bool(Bool)
        /// Seconds, of an interval or since the start.
        case time(Double)
        case word(Int)

        var isTrue: Bool { self == .bool(true) }
        var number: Int64 { if case .int(let number) = self { number } else { 0 } }
        var seconds: Double { if case .time(let seconds) = self { seconds } else { 0 } }

        /// Whether both are of one type.
        fileprivate func isLike(_ other: Value) -> Bool {
            switch (self, other) {
            case (.int, .int), (.bool, .bool), (.time, .time), (.word, .word): true
            default: false
            }
        }
    }

    struct Failure: Error {
        let what: String
    }

    /// The columns of a lease, in the order in which a row has them.
    enum Column: Int, CaseIterable {
        case name, holder, fence, beat, until, taken, wanted, version, lane
        case dueAt
    }

    typealias Row = [Value]
    /// A row that is not there.
    static let none = Row(repeating: .null, count: Column.allCases.count)
    fileprivate typealias Expression = (LeaseStatements) -> Value

    fileprivate struct Update {
        var assignments: [(column: Int, value: Expression)] = []
        var condition: Expression = { _ in .bool(true) }
        var returning: [Expression] = []
    }

    fileprivate struct Insertion {
        var columns: [Int] = []
        var values: [Expression] = []
        var update = Update()
    }

    // What an expression refers to.
    fileprivate var row: Row = []
    fileprivate var excluded: Row = []
    fileprivate var parameters: [Value] = []
    /// What stands for `m` where several rows are updated.
    fileprivate var member: Row = []
    fileprivate var now = 0.0
    /// Whether the last statement's commit waited for the disk: none of its conditions said otherwise.
    fileprivate(set) var isDurable = true

    private let insertion: Insertion
    private let replacement, renewal, wish, release, silentRelease: Update

    init() throws {
        let texts = try PostgresTexts(PostgresSchema("v"))
        var reader = try SQLReader(texts.acquire.sql)
        insertion = try reader.insertion()
        func update(_ text: PostgresText) throws -> Update {
            var reader = try SQLReader(text.sql)
            return try reader.firstUpdate()
        }
        (replacement, renewal) = (try update(texts.replace), try update(texts.renew))
        (wish, release) = (try update(texts.want), try update(texts.release))
        silentRelease = try update(texts.releaseSilently)
        guard texts.replace.sql.contains("FROM held") else {
            throw Failure(what: "a record is replaced whether its lease was or not")
        }
    }

    // MARK: Carrying out

    /// ACQUIRE: fence, version and whether the lease was taken; nil when another holder has it.
    func acquire(_ lease: inout Row?, _ parameters: [Value], at now: Double) -> [Value]? {
        begin(parameters, at: now)
        var new = Self.none
        for (column, value) in zip(insertion.columns, insertion.values) { new[column] = value(self) }
        guard lease != nil else {
            lease = new
            row = new
            return insertion.update.returning.map { $0(self) }
        }
        excluded = new
        return carryOut(insertion.update, on: &lease)
    }

    /// REPLACE: version, and whether the lease was released.
    func replace(_ lease: inout Row?, _ parameters: [Value], at now: Double) -> [Value]? {
        begin(parameters, at: now)
        return carryOut(replacement, on: &lease)
    }

    /// RENEW, of one hold: what comes back of its holder.
    func renew(
        _ lease: inout Row?, holder: Value, fence: Value, _ parameters: [Value], at now: Double
    ) -> Value? {
        begin(parameters, at: now)
        member = Self.none
        (member[Column.name.rawValue], member[Column.holder.rawValue]) = (.int(0), holder)
        member[Column.fence.rawValue] = fence
        return carryOut(renewal, on: &lease)?.first
    }

    func want(_ lease: inout Row?, _ parameters: [Value], at now: Double) {
        begin(parameters, at: now)
        _ = carryOut(wish, on: &lease)
    }

    /// RELEASE, or the one that notifies no waiter.
    func release(_ lease: inout Row?, _ parameters: [Value], isSilent: Bool, at now: Double) -> Bool {
        begin(parameters, at: now)
        return carryOut(isSilent ? silentRelease : release, on: &lease) != nil
    }

    private func begin(_ parameters: [Value], at now: Double) {
        (self.parameters, self.now, isDurable) = (parameters, now, true)
    }

    private func carryOut(_ update: Update, on lease: inout Row?) -> [Value]? {
        guard let before = lease else { return nil }
        row = before
        guard update.condition(self).isTrue else { return nil }
        var after = before
        for (column, value) in update.assignments { after[column] = value(self) }
        row = after
        lease = after
        return update.returning.map { $0(self) }
    }
}

extension LeaseStatements.Row {
    subscript(_ column: LeaseStatements.Column) -> LeaseStatements.Value {
        get { self[column.rawValue] }
        set { self[column.rawValue] = newValue }
    }
}

/// Reads one statement.
private struct SQLReader {
    typealias Value = LeaseStatements.Value
    typealias Expression = (LeaseStatements) -> Value

    private var tokens: [String] = []
    private var index = 0
    private var words: [String] = []

    init(_ sql: String) throws {
        var rest = Substring(sql)
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if first == "'" {
                let end = rest.dropFirst().firstIndex(of: "'") ?? rest.endIndex
                guard end < rest.endIndex else { throw LeaseStatements.Failure(what: "a word without an end") }
                tokens.append(String(rest[...end]))
                rest = rest[rest.index(after: end)...]
            } else if first.isLetter || first.isNumber || "_\"$".contains(first) {
                let token = rest.prefix { $0.isLetter || $0.isNumber || "_\".$".contains($0) }
                tokens.append(String(token))
                rest = rest.dropFirst(token.count)
            } else {
                let pair = String(rest.prefix(2))
                let token = ["<=", "<>", "::", ">="].contains(pair) ? pair : String(first)
                tokens.append(token)
                rest = rest.dropFirst(token.count)
            }
        }
    }

    private var token: String? { index < tokens.count ? tokens[index] : nil }

    private mutating func next() throws -> String {
        guard let token else { throw LeaseStatements.Failure(what: "the statement ends") }
        index += 1
        return token
    }

    private mutating func takes(_ words: String...) -> Bool {
        guard tokens.dropFirst(index).starts(with: words) else { return false }
        index += words.count
        return true
    }

    private mutating func expect(_ words: String...) throws {
        for word in words {
            guard takes(word) else {
                throw LeaseStatements.Failure(
                    what: "\(word) instead of \(tokens.dropFirst(max(0, index - 3)).prefix(8).joined(separator: " "))")
            }
        }
    }

    /// Goes on behind what belongs to an opened bracket.
    private mutating func skipBrackets() throws {
        var depth = 1
        while depth > 0 {
            switch try next() {
            case "(": depth += 1
            case ")": depth -= 1
            default: break
            }
        }
    }

    private func column(_ name: Substring) throws -> Int {
        let names: [Substring] = [
            "name", "holder", "fence", "beat", "until", "taken", "wanted", "version", "lane", "due_at",
        ]
        guard let index = names.firstIndex(of: name) else { throw LeaseStatements.Failure(what: "no column \(name)") }
        return index
    }

    // MARK: Statements

    /// The UPDATE of a lease that is the statement, or its first part.
    mutating func firstUpdate() throws -> LeaseStatements.Update {
        if takes("WITH") {
            _ = try next()
            try expect("AS", "(")
        }
        try expect("UPDATE")
        guard try next().hasSuffix(".lease") else { throw LeaseStatements.Failure(what: "another table") }
        if token != "SET" { _ = try next() }
        return try update()
    }

    mutating func insertion() throws -> LeaseStatements.Insertion {
        var insertion = LeaseStatements.Insertion()
        try expect("INSERT", "INTO")
        guard try next().hasSuffix(".lease") else { throw LeaseStatements.Failure(what: "another table") }
        try expect("AS", "l", "(")
        repeat { insertion.columns.append(try column(Substring(next()))) } while takes(",")
        try expect(")", "VALUES", "(")
        repeat { insertion.values.append(try disjunction()) } while takes(",")
        try expect(")", "ON", "CONFLICT", "(", "name", ")", "DO", "UPDATE")
        insertion.update = try update()
        return insertion
    }

    private mutating func update() throws -> LeaseStatements.Update {
        var update = LeaseStatements.Update()
        try expect("SET")
        repeat {
            let column = try column(Substring(next()))
            try expect("=")
            update.assignments.append((column, try disjunction()))
        } while takes(",")
        if takes("FROM", "unnest", "(") {
            try skipBrackets()
            try expect("AS", "m", "(", "name", ",", "holder", ",", "fence", ")")
        }
        if takes("WHERE") { update.condition = try disjunction() }
        if takes("RETURNING") {
            repeat {
                update.returning.append(try disjunction())
                if takes("AS") { _ = try next() }
            } while takes(",")
        }
        guard token == nil || token == ")" else {
            throw LeaseStatements.Failure(what: "\(token ?? "") behind an update")
        }
        return update
    }

    // MARK: Expressions

    private mutating func disjunction() throws -> Expression {
        var left = try conjunction()
        while takes("OR") {
            let (before, right) = (left, try conjunction())
            left = { frame in
                let first = before(frame)
                return first.isTrue ? first : Self.or(first, right(frame))
            }
        }
        return left
    }

    private static func or(_ first: Value, _ second: Value) -> Value {
        second.isTrue || first == .bool(false) ? second : first == .null && second == .bool(false) ? .null : first
    }

    private mutating func conjunction() throws -> Expression {
        var left = try negation()
        while takes("AND") {
            let (before, right) = (left, try negation())
            left = { frame in
                let first = before(frame)
                guard first != .bool(false) else { return first }
                let second = right(frame)
                return first.isTrue || second == .bool(false) ? second : .null
            }
        }
        return left
    }

    private mutating func negation() throws -> Expression {
        guard takes("NOT") else { return try comparison() }
        let operand = try negation()
        return { frame in if case .bool(let value) = operand(frame) { .bool(!value) } else { .null } }
    }

    private mutating func comparison() throws -> Expression {
        let left = try sum()
        if takes("IS", "NOT", "NULL") { return { .bool(left($0) != .null) } }
        if takes("IS", "NULL") { return { .bool(left($0) == .null) } }
        guard let sign = token, ["=", "<>", "<", "<=", ">", ">="].contains(sign) else { return left }
        index += 1
        let right = try sum()
        return { frame in
            let (first, second) = (left(frame), right(frame))
            guard first != .null, second != .null else { return .null }
            guard first.isLike(second) else { preconditionFailure("\(first) \(sign) \(second)") }
            switch sign {
            case "=": return .bool(first == second)
            case "<>": return .bool(first != second)
            default: return .bool(Self.compare(first, sign, second))
            }
        }
    }

    private static func compare(_ first: Value, _ sign: String, _ second: Value) -> Bool {
        let order: (less: Bool, equal: Bool)
        if case .int(let first) = first {
            order = (first < second.number, first == second.number)
        } else {
            order = (first.seconds < second.seconds, first.seconds == second.seconds)
        }
        return switch sign {
        case "<": order.less
        case "<=": order.less || order.equal
        case ">": !order.less && !order.equal
        default: !order.less
        }
    }

    private mutating func sum() throws -> Expression {
        var left = try product()
        while takes("+") {
            let (before, right) = (left, try product())
            left = { frame in
                switch (before(frame), right(frame)) {
                case (.int(let first), .int(let second)): .int(first + second)
                case (.time(let first), .time(let second)): .time(first + second)
                default: .null
                }
            }
        }
        return left
    }

    private mutating func product() throws -> Expression {
        var left = try primary()
        while takes("*") {
            let (before, right) = (left, try primary())
            left = { frame in
                if case (.int(let count), .time(let length)) = (before(frame), right(frame)) {
                    .time(Double(count) * length)
                } else {
                    .null
                }
            }
        }
        return left
    }

    private mutating func primary() throws -> Expression {
        let expression = try unit()
        while takes("::") { _ = try next() }
        return expression
    }

    private mutating func unit() throws -> Expression {
        let token = try next()
        switch token {
        case "(":
            let inner = try disjunction()
            try expect(")")
            return inner
        // Which keys seal is another matter.
        case "EXISTS":
            try expect("(")
            try skipBrackets()
            return { _ in .bool(true) }
        case "CASE": return try choice()
        case "NULL": return { _ in .null }
        case "true": return { _ in .bool(true) }
        case "false": return { _ in .bool(false) }
        case "interval": return try interval()
        case "pg_catalog.clock_timestamp":
            try expect("(", ")")
            return { .time($0.now) }
        case "pg_catalog.set_config":
            try expect("(")
            let setting = try next()
            try expect(",")
            let text = try next()
            guard setting == "'synchronous_commit'", ["'on'", "'off'"].contains(text) else {
                throw LeaseStatements.Failure(what: "\(setting), \(text)")
            }
            let value = word(text)
            try skipBrackets()
            return { frame in
                frame.isDurable = text == "'on'"
                return .word(value)
            }
        default: break
        }
        if token.hasPrefix("'") {
            let number = word(token)
            return { _ in .word(number) }
        }
        if token.hasPrefix("$"), let number = Int(token.dropFirst()) { return { $0.parameters[number - 1] } }
        if let number = Int64(token) { return { _ in .int(number) } }
        let parts = token.split(separator: ".")
        let column = try column(parts.last ?? "")
        switch parts.count == 1 ? "l" : parts[0] {
        case "l": return { $0.row[column] }
        case "excluded": return { $0.excluded[column] }
        case "m": return { $0.member[column] }
        default: throw LeaseStatements.Failure(what: token)
        }
    }

    private mutating func word(_ text: String) -> Int {
        if let index = words.firstIndex(of: text) { return index }
        words.append(text)
        return words.count - 1
    }

    private mutating func choice() throws -> Expression {
        var cases: [(when: Expression, then: Expression)] = []
        while takes("WHEN") {
            let condition = try disjunction()
            try expect("THEN")
            cases.append((condition, try disjunction()))
        }
        var other: Expression = { _ in .null }
        if takes("ELSE") { other = try disjunction() }
        try expect("END")
        let (choices, rest) = (cases, other)
        return { frame in
            for choice in choices where choice.when(frame).isTrue { return choice.then(frame) }
            return rest(frame)
        }
    }

    private mutating func interval() throws -> Expression {
        let parts = try next().filter { $0 != "'" }.split(separator: " ")
        let units: [Substring: Double] = ["millisecond": 0.001, "s": 1]
        guard parts.count == 2, let count = Double(parts[0]), let unit = units[parts[1]] else {
            throw LeaseStatements.Failure(what: "interval \(parts)")
        }
        return { _ in .time(count * unit) }
    }
}
