/// The plural form of a whole number (Unicode CLDR, cardinal rules for integers of the 22 locales).
enum PluralCategory: String, Sendable, Hashable, CaseIterable {
    case one
    case few
    case many
    case other

    /// The category of a whole number of at least 0.
    init(_ number: Int, in locale: ConnectButtonLocale) {
        let (last, lastTwo) = (number % 10, number % 100)
        let isTeen = (11...14).contains(lastTwo)
        self =
            switch locale {
            case .japanese, .korean, .simplifiedChinese, .traditionalChinese: .other
            case .french, .canadianFrench, .brazilianPortuguese: number <= 1 ? .one : .other
            case .czech: number == 1 ? .one : (2...4).contains(number) ? .few : .other
            case .polish: number == 1 ? .one : (2...4).contains(last) && !isTeen ? .few : .many
            case .russian: last == 1 && lastTwo != 11 ? .one : (2...4).contains(last) && !isTeen ? .few : .many
            default: number == 1 ? .one : .other
            }
    }
}
