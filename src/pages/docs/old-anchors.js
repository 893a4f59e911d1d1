// The guide used to be on this page. Its old anchors redirect to the chapters (decisions §27).
const chapters = {
  'first-request': 'first-booking',
  authentication: 'keys',
  sandbox: 'keys#the-sandbox',
  'test-your-integration': 'testing',
  certification: 'certification',
  'after-an-outage': 'after-an-outage',
  pagination: 'limits#pages',
  'polling-without-loss': 'polling',
  'changes-as-they-happen': 'changes-as-they-come',
  'signed-hints': 'webhooks',
  'a-poller-without-a-disk': 'polling#a-poller-without-a-disk',
  'availability-and-bookings': 'availability',
  'safe-retries': 'safe-retries',
  'guests-who-are-erased': 'erased-guests',
  'after-a-restore': 'after-an-outage#after-a-restore',
  errors: 'errors',
  'rate-limits': 'limits',
  downloads: 'client',
}
const chapter = chapters[location.hash.replace(/^#(description\/)?/, '')]
if (chapter) location.replace(`/guide/${chapter}`)
