import Logging

extension Logger.Level {
    /// The meaning of `_logLevel`: 1 critical, 2 error, 3 warning, 4 info, 5 debug, 6 and above everything, as in the
    /// vendor's SDK. `nil`, for 0 and below, is the level of the rest of the program.
    init?(modelValue: Int64) {
        switch modelValue {
        case ...0: return nil
        case 1: self = .critical
        case 2: self = .error
        case 3: self = .warning
        case 4: self = .info
        case 5: self = .debug
        default: self = .trace
        }
    }
}
