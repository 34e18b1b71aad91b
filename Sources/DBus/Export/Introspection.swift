extension ObjectTable {
    /// The description of an object in XML (D-Bus Specification, “Introspection Data Format”). It consists of checked names and
    /// types, so nothing needs escaping.
    func introspection(of path: ObjectPath) -> String {
        var lines = [
            #"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN""#,
            #" "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">"#, "<node>",
        ]
        if let object = objects[path] {
            let standard =
                [.propertiesDescription, .introspectableDescription, .peerDescription]
                + (object.isManager ? [ExportedInterface.objectManagerDescription] : [])
            for interface in object.interfaces + standard { lines += interface.introspection }
        }
        lines += children(of: path).map { #"  <node name="\#($0)"/>"# }
        return (lines + ["</node>", ""]).joined(separator: "\n")
    }
}

extension ExportedInterface {
    fileprivate var introspection: [String] {
        [#"  <interface name="\#(name)">"#] + methods.flatMap(\.introspection) + signals.flatMap(\.introspection)
            + properties.flatMap(\.introspection) + ["  </interface>"]
    }

    private static func described(
        _ name: MemberName, takes: [Argument] = [], returns: [Argument] = []
    ) -> ExportedMethod {
        ExportedMethod(name, takes: takes, returns: returns) { _ in [] }
    }

    private static let propertyTypes = ValueType.dictionary(key: .string, value: .variant)

    fileprivate static let propertiesDescription = ExportedInterface(
        .properties,
        methods: [
            described(
                "Get", takes: [Argument("interface_name", .string), Argument("property_name", .string)],
                returns: [Argument("value", .variant)]),
            described(
                "GetAll", takes: [Argument("interface_name", .string)],
                returns: [Argument("properties", propertyTypes)]),
            described(
                "Set",
                takes: [
                    Argument("interface_name", .string), Argument("property_name", .string),
                    Argument("value", .variant),
                ]),
        ],
        signals: [
            ExportedSignal(
                "PropertiesChanged",
                [
                    Argument("interface_name", .string), Argument("changed_properties", propertyTypes),
                    Argument("invalidated_properties", .array(.string)),
                ])
        ])

    fileprivate static let introspectableDescription = ExportedInterface(
        .introspectable, methods: [described("Introspect", returns: [Argument("xml_data", .string)])])

    fileprivate static let peerDescription = ExportedInterface(
        .peer,
        methods: [described("Ping"), described("GetMachineId", returns: [Argument("machine_uuid", .string)])])

    private static let interfaceTypes = ValueType.dictionary(key: .string, value: propertyTypes)

    fileprivate static let objectManagerDescription = ExportedInterface(
        .objectManager,
        methods: [
            described(
                "GetManagedObjects",
                returns: [Argument("objects", .dictionary(key: .objectPath, value: interfaceTypes))])
        ],
        signals: [
            ExportedSignal(
                "InterfacesAdded", [Argument("object", .objectPath), Argument("interfaces", interfaceTypes)]),
            ExportedSignal(
                "InterfacesRemoved", [Argument("object", .objectPath), Argument("interfaces", .array(.string))]),
        ])
}

extension ExportedMethod {
    fileprivate var introspection: [String] {
        [#"    <method name="\#(name)">"#] + takes.map { $0.introspection(direction: "in") }
            + returns.map { $0.introspection(direction: "out") } + ["    </method>"]
    }
}

extension ExportedSignal {
    fileprivate var introspection: [String] {
        [#"    <signal name="\#(name)">"#] + arguments.map { $0.introspection(direction: nil) } + ["    </signal>"]
    }
}

extension ExportedProperty {
    fileprivate var introspection: [String] {
        let annotation = "org.freedesktop.DBus.Property.EmitsChangedSignal"
        return [
            #"    <property name="\#(name)" type="\#(value.type.code)" access="read">"#,
            #"      <annotation name="\#(annotation)" value="const"/>"#, "    </property>",
        ]
    }
}

extension Argument {
    fileprivate func introspection(direction: String?) -> String {
        let direction = direction.map { #" direction="\#($0)""# } ?? ""
        return #"      <arg name="\#(name)" type="\#(type.code)"\#(direction)/>"#
    }
}
