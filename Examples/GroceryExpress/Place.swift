#if Server && Sandbox
/// A place that the search of the configuration screen knows (F109). A shop would ask a map; the sample stays on this
/// machine.
struct Place: Sendable {
    let name: String
    let latitude: Double
    let longitude: Double

    static let known = [
        Place(name: "Alexanderplatz, Berlin", latitude: 52.5219, longitude: 13.4132),
        Place(name: "Ferry Building, San Francisco", latitude: 37.7955, longitude: -122.3937),
        Place(name: "Mercado de San Miguel, Madrid", latitude: 40.4154, longitude: -3.7090),
        Place(name: "Nishiki Market, Kyoto", latitude: 35.0050, longitude: 135.7649),
        Place(name: "Borough Market, London", latitude: 51.5055, longitude: -0.0910),
        Place(name: "Marché d'Aligre, Paris", latitude: 48.8487, longitude: 2.3790),
    ]

    /// The places in which every word occurs.
    static func matching(_ text: String) -> [Place] {
        let words = text.lowercased().split(separator: " ").prefix(8)
        return words.isEmpty ? [] : known.filter { place in words.allSatisfy { place.name.lowercased().contains($0) } }
    }
}
#endif
