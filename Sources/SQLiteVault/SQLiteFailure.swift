#if SQLite
import Foundation
import GRDB
import Handshake

extension SQLiteStore {
    /// What an error of SQLite means for a vault.
    static func failure(_ error: any Error, _ path: String) -> VaultError {
        if let error = error as? VaultError { return error }
        guard let error = error as? DatabaseError else {
            // A column has another type than this version wrote.
            return .damaged(what: path, reason: "it has a value that this version does not write")
        }
        let text = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy(path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH:
            return .damaged(what: path, reason: text)
        case .SQLITE_ERROR where text.hasPrefix("no such"):
            return .damaged(what: path, reason: text)
        case .SQLITE_READONLY:
            return .denied(what: path, reason: "it cannot be written (\(text)). Check its file system, owner and mode.")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            return .denied(
                what: path,
                reason: "it cannot be opened (\(text)). Check the owner and mode of the file and of its folders.")
        case .SQLITE_FULL: return .unavailable("no space is left to write \(path). Free some space and try again")
        default: return .unavailable("\(path): \(text)")
        }
    }
}

extension Row {
    /// A column's value. GRDB's own subscript traps where a hand edit put another type.
    func stored<Value: DatabaseValueConvertible>(_ column: String) throws(VaultError) -> Value {
        guard let value = Value.fromDatabaseValue(self[column] as DatabaseValue) else {
            throw .damaged(what: "column \(column)", reason: "it has a value that this version does not write")
        }
        return value
    }
}

extension [UInt8] {
    var data: Data { Data(self) }

    /// The one value of a query that is a blob; nil when there is none.
    static func blob(_ db: Database, _ sql: String) throws -> [UInt8]? {
        try Data.fetchOne(db, sql: sql).map { Array($0) }
    }
}
#endif
