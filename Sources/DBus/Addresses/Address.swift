/// The address of a bus (D-Bus Specification, “Server Addresses”): a Unix socket, by path or by abstract name.
///
/// Other transports are rejected: `tcp`, because the bus could not authenticate the client by credentials, and `unixexec`,
/// because an address from the environment must not start a program.
package struct Address: Sendable, Hashable {
    /// The socket to connect to.
    package enum Endpoint: Sendable, Hashable {
        /// A socket in the file system.
        case path(String)
        /// A socket of Linux's abstract name space.
        case abstract(String)
    }

    /// The socket to connect to.
    package let endpoint: Endpoint
    /// The bus's identifier, 32 hexadecimal digits; if given, no other bus is accepted.
    package let guid: String?

    /// Creates an address.
    package init(_ endpoint: Endpoint, guid: String? = nil) {
        self.endpoint = endpoint
        self.guid = guid
    }

    /// Parses a list of addresses, such as `unix:path=/run/user/1000/bus,guid=…;unix:abstract=…`; skips those of other
    /// transports.
    ///
    /// - Returns: At least one address, in the order in which to try them.
    /// - Throws: ``DBusError/invalidAddress(text:problem:)``, or ``DBusError/unsupported(feature:)`` when every address is
    ///   of another transport.
    package static func list(_ text: String) throws(DBusError) -> [Address] {
        var addresses: [Address] = []
        var unsupported: [String] = []
        for entry in text.split(separator: ";") {
            var parser = AddressParser(text: text, entry: entry)
            if let address = try parser.parse() {
                addresses.append(address)
            } else {
                unsupported.append(entry.prefix { $0 != ":" }.description.visible(limit: 40))
            }
        }
        if addresses.isEmpty, !unsupported.isEmpty {
            throw .unsupported(feature: "a bus address of \(unsupported.joined(separator: ", "))")
        }
        guard !addresses.isEmpty else { throw .invalidAddress(text: text, problem: "it is empty") }
        return addresses
    }

    /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, otherwise `bus` in `XDG_RUNTIME_DIR`.
    ///
    /// - Throws: ``DBusError/invalidAddress(text:problem:)``, also when neither variable is set, and
    ///   ``DBusError/unsupported(feature:)``
    package static func session(environment: [String: String]) throws(DBusError) -> [Address] {
        if let text = environment["DBUS_SESSION_BUS_ADDRESS"], !text.isEmpty { return try list(text) }
        if let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty { return [Address(.path(folder + "/bus"))] }
        throw .invalidAddress(
            text: "",
            problem: "there is no desktop session: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
    }

    /// The system bus: `DBUS_SYSTEM_BUS_ADDRESS`, otherwise the well-known socket (“Well-known Message Bus
    /// Instances”).
    ///
    /// - Throws: ``DBusError/invalidAddress(text:problem:)`` or ``DBusError/unsupported(feature:)``
    package static func system(environment: [String: String]) throws(DBusError) -> [Address] {
        if let text = environment["DBUS_SYSTEM_BUS_ADDRESS"], !text.isEmpty { return try list(text) }
        return [Address(.path("/var/run/dbus/system_bus_socket"))]
    }
}

extension Address: CustomStringConvertible {
    package var description: String {
        switch endpoint {
        case .path(let path): "unix:path=\(path)"
        case .abstract(let name): "unix:abstract=\(name)"
        }
    }
}

/// Parses one address of a list.
private struct AddressParser {
    let text: String
    let entry: Substring

    /// The address, or nil for an unsupported transport.
    mutating func parse() throws(DBusError) -> Address? {
        guard let colon = entry.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw failure("it has no transport") }
        guard entry[..<colon] == "unix" else { return nil }
        let values = try keyValues(entry[entry.index(after: colon)...])
        if let guid = values["guid"], guid.utf8.count != 32 || !guid.utf8.allSatisfy(Self.isHexadecimal) {
            throw failure("its guid is not 32 hexadecimal digits")
        }
        let endpoints = [values["path"].map(Address.Endpoint.path), values["abstract"].map(Address.Endpoint.abstract)]
            .compactMap(\.self)
        // `dir`, `tmpdir` and `runtime` are for servers only.
        guard let endpoint = endpoints.first, endpoints.count == 1 else {
            throw failure("it must have either path or abstract")
        }
        return Address(endpoint, guid: values["guid"])
    }

    private func failure(_ problem: String) -> DBusError {
        .invalidAddress(text: text, problem: problem)
    }

    private func keyValues(_ list: Substring) throws(DBusError) -> [String: String] {
        var values: [String: String] = [:]
        for pair in list.split(separator: ",") {
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { throw failure("a key has no value") }
            let key = String(pair[..<equals])
            guard values.updateValue(try unescaped(pair[pair.index(after: equals)...]), forKey: key) == nil else {
                throw failure("a key comes twice")
            }
        }
        return values
    }

    /// Decodes `%xx`. Accepts unescaped bytes, as the reference implementation does.
    private func unescaped(_ value: Substring) throws(DBusError) -> String {
        var bytes: [UInt8] = []
        var rest = Array(value.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.prefix(2).allSatisfy(Self.isHexadecimal)
            else { throw failure("an escape is not % and two hexadecimal digits") }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        guard !bytes.isEmpty, !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw failure("a value is empty, not UTF-8 or contains NUL")
        }
        return text
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
