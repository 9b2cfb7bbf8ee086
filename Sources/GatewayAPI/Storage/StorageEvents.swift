/// Events of a camera in the form of the SDK's storage service, newest first. Times are s since 1970.
public struct StorageEvents: Codable, Hashable, Sendable {
    public struct Event: Codable, Hashable, Sendable {
        /// The event's id, as of `/v1/device-events`.
        public var alarmId: String
        /// The types as bits. Bit 15: there are recordings of it.
        public var firstAlarmType: Int64
        public var alarmType: Int64
        public var startTime: Int64
        public var endTime: Int64
        /// Follows `imgUrlPrefix`; empty without recordings of it.
        public var imgUrlSuffix: String

        public init(
            alarmId: String, firstAlarmType: Int64, alarmType: Int64, startTime: Int64, endTime: Int64,
            imgUrlSuffix: String = ""
        ) {
            self.alarmId = alarmId
            self.firstAlarmType = firstAlarmType
            self.alarmType = alarmType
            self.startTime = startTime
            self.endTime = endTime
            self.imgUrlSuffix = imgUrlSuffix
        }
    }

    /// The picture of an event is at this, followed by its `imgUrlSuffix`, at the address of this API; empty if no event
    /// has recordings.
    public var imgUrlPrefix: String
    /// A picture's address with this at its end is a thumbnail.
    public var thumbUrlSuffix: String
    public var list: [Event]
    /// The beginning of the first recording, 0 without one, as the SDK's table has it.
    public var validVideoStartTime: Int64
    /// The same, as the SDK's example has it.
    public var validStartTime: Int64
    /// True on the last page. The next page is asked for with the last event's `startTime` as `endTime`.
    public var pageEnd: Bool

    public init(imgUrlPrefix: String, list: [Event], validVideoStartTime: Int64, pageEnd: Bool) {
        self.imgUrlPrefix = imgUrlPrefix
        thumbUrlSuffix = "&size=320"
        self.list = list
        self.validVideoStartTime = validVideoStartTime
        validStartTime = validVideoStartTime
        self.pageEnd = pageEnd
    }
}
