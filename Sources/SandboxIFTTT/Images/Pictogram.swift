#if Sandbox

/// The drawings of services and features.
enum Pictogram {
    /// What a service is known by.
    static func service(_ id: String) -> Shape {
        switch id {
        case "location": pin
        case "quiet_orchard": apple
        case "skylark_weather": cloud
        case "midnight_lamp": moon
        case "snow_lamp": snowflake
        case "odd_paint": drop
        case "long_words": sprout
        case "gan_or": sun
        case "paper_calendar": calendar
        default: leaf
        }
    }

    /// What a feature does.
    static func feature(_ id: String) -> Shape {
        switch id {
        case "ft01": house
        case "ft10": cloud
        case "ft20", "ft21", "ft22": pin
        case "ft30": moon
        case "ft40": sun
        case "ft41": sprout
        case "ft42": bell
        case "ft43", "ft60": calendar
        case "ft70": padlock(isOpen: true)
        case "ft71": padlock(isOpen: false)
        default: drop
        }
    }

    private static let leaf = Shape.any(
        .leaf((0.2, 0.8), (0.86, 0.14)).without(.line((0.34, 0.66), (0.68, 0.32), 0.025)),
        .line((0.12, 0.88), (0.24, 0.76), 0.035))

    private static let pin = Shape.any(
        .circle(0.5, 0.4, 0.3), .triangle((0.226, 0.523), (0.774, 0.523), (0.5, 0.92))
    ).without(.circle(0.5, 0.4, 0.12))

    private static let apple = Shape.any(
        .circle(0.39, 0.6, 0.24), .circle(0.61, 0.6, 0.24), .line((0.5, 0.44), (0.54, 0.2), 0.03),
        .leaf((0.56, 0.3), (0.8, 0.14)))

    private static let cloud = Shape.any(
        .circle(0.33, 0.47, 0.17), .circle(0.54, 0.38, 0.23), .circle(0.74, 0.5, 0.15),
        .box(0.53, 0.55, 0.56, 0.2, corner: 0.1), .line((0.34, 0.76), (0.3, 0.88), 0.035),
        .line((0.54, 0.76), (0.5, 0.88), 0.035), .line((0.74, 0.76), (0.7, 0.88), 0.035))

    private static let moon = Shape.circle(0.47, 0.5, 0.37).without(.circle(0.64, 0.4, 0.31))

    private static let snowflake = Shape.any(
        .line((0.5, 0.5), (0.9, 0.5), 0.032), .line((0.72, 0.5), (0.82, 0.4), 0.028),
        .line((0.72, 0.5), (0.82, 0.6), 0.028)
    ).repeated(6)

    private static let drop = Shape.any(
        .circle(0.5, 0.62, 0.26), .triangle((0.5, 0.1), (0.73, 0.5), (0.27, 0.5))
    ).without(.line((0.37, 0.66), (0.44, 0.74), 0.03))

    private static let sprout = Shape.any(
        .line((0.5, 0.9), (0.5, 0.52), 0.035), .leaf((0.5, 0.56), (0.12, 0.3)), .leaf((0.5, 0.56), (0.88, 0.22)))

    private static let sun = Shape.any(
        .circle(0.5, 0.5, 0.2), Shape.line((0.8, 0.5), (0.9, 0.5), 0.035).repeated(8))

    private static let calendar = Shape.any(
        .box(0.5, 0.54, 0.72, 0.68, corner: 0.08).without(.box(0.5, 0.62, 0.58, 0.4)),
        .line((0.33, 0.14), (0.33, 0.26), 0.04), .line((0.67, 0.14), (0.67, 0.26), 0.04),
        .box(0.36, 0.56, 0.1, 0.1), .box(0.5, 0.56, 0.1, 0.1), .box(0.64, 0.56, 0.1, 0.1),
        .box(0.36, 0.7, 0.1, 0.1), .box(0.5, 0.7, 0.1, 0.1))

    private static let house = Shape.any(
        .triangle((0.5, 0.12), (0.92, 0.5), (0.08, 0.5)), .box(0.5, 0.67, 0.56, 0.4)
    ).without(.box(0.5, 0.77, 0.16, 0.24))

    private static let bell = Shape.any(
        .circle(0.5, 0.4, 0.23), .box(0.5, 0.55, 0.46, 0.32), .box(0.5, 0.72, 0.64, 0.09, corner: 0.045),
        .circle(0.5, 0.83, 0.07))

    private static func padlock(isOpen: Bool) -> Shape {
        let x = isOpen ? 0.7 : 0.5
        let ring = Shape.circle(x, 0.42, 0.23).without(.circle(x, 0.42, 0.15))
        return .any(
            ring.meeting(.box(x, 0.26, 0.5, 0.4)),
            .box(0.5, 0.66, 0.58, 0.44, corner: 0.07).without(.circle(0.5, 0.66, 0.07)))
    }
}
#endif
