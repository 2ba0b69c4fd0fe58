"""Which of Apprise's services may be used, by the schema of their URLs. Pure: knows nothing of Apprise itself.

A service that isn't listed is refused, so that a later version of Apprise can't bring one that runs programs or reads
files. `tests/channels/test_apprise_services.py` compares the lists with what is installed.
"""

import re
from urllib.parse import parse_qsl

_ALLOWED = """
46elks atalk azure bark barks betterstack bluesky brevo bsky bulksms bulkvs burstsms chanify clickatell
clicksend cliq cm d7sms dapnet dingtalk discord dot eight00com elks emby embys enigma2 enigma2s evolution
evolutions exotel feishu firehydrant flock flowtriq flowtriqs fluxer fluxers form forms freemobile gchat github
goalert goalerts gorush gorushs gotify gotifys groundmail groupme gupshup hassio hassios httpsms humhub humhubs
ifttt ilert incidentio infobip jellyfin jellyfins jira join json jsons kakao kakaotalk kaleyra kavenegar klr
kodi kodis kook kudosity kumulos lametric lametrics lark lauther lfg line mailersend mailgun mastodon mastodons
matrix matrixs misskey misskeys mmost mmosts mobilemessage mobilemsg msg91 msgbird ncloud nclouds nctalk nctalks
nexmo notica noticas notifiarr notifico notificos notifyre o365 octopush onebot onebots onesignal opsgenie
pagerduty pagertree parsep parseps pbul pinglet pinglets pingram pjet pjets plivo postmark pover prowl psafer
psafers push pushdeer pushdeers pushed pushme pushplus pushward pushy qq reddit resend revolt ringc rocket
rockets ryver schan sendgrid sendpulse serwersms ses session sessions seven sfr signal signalgrid signals signl4
simplepush sinch slack smsc smseagle smseagles smsmanager smsmgr smstunnel smtp2go sns sogs sparkpost spike
splunk spugpush spush squadcast stackfield strmlabs synology synologys telesign telnyx tgram threema toot toots
trigv trigvs tweet twilio twist twitter viber victorops voipms vonage webex wechat wecom wecombot whapi whatsapp
workflow workflows wpush wxpusher wxteams x xbmc xbmcs xmatters xml xmls youlmk zalo zcliq zohocliq zoom zulip
"""
ALLOWED = frozenset(_ALLOWED.split())
"""Each only sends requests over the network, with HTTP."""
_REFUSED = """
amqp amqps apprise apprises aprs blink1 dbus deltachat deltachats fcm gio glib gnome growl guilded irc ircs kde
macosx mailto mailtos mqtt mqtts nostr ntfy ntfys qt rsyslog smpp smpps syslog vapid windows xmpp xmpps
"""
REFUSED = frozenset(_REFUSED.split())
"""Services on this machine, services that read key files, those with connections that can't be limited, and those
that Handraise has itself."""
_SCHEMA = re.compile(r"([A-Za-z0-9]{1,20})://\S")
_FIXED = frozenset(
    ("attach", "cto", "keyfile", "optional", "redirect", "retry", "rto", "store", "subfile", "verify", "wait")
)
"""What Handraise decides itself, and what names a file."""
_TEMPLATE_FILES = frozenset(("discord", "guilded", "slack", "tgram", "workflow", "workflows"))
"""Their `template` is a file. For other services it is a template's name."""


def read_schema(url: str) -> str | None:
    """The service that a URL is for; None if it isn't such a URL."""
    found = _SCHEMA.match(url)
    return found[1].lower() if found else None


def is_allowed(schema: str) -> bool:
    """Whether the service only sends over the network."""
    return schema in ALLOWED


def unusable_options(url: str) -> list[str]:
    """The options of a URL that it may not set."""
    schema, query = read_schema(url), url.partition("?")[2]
    # Apprise reads `&` and `;`-separated options, whatever the prefix of a name means for the service.
    names = {
        name.strip().lower().lstrip("+-:") for name, _ in parse_qsl(query.replace(";", "&"), keep_blank_values=True)
    }
    refused = _FIXED | ({"template"} if schema in _TEMPLATE_FILES else set())
    return sorted(names & refused)
