"""Random sequences of writes to one object of a type that has one field of every sort."""
import json, random, sys
random.seed(int(sys.argv[1])); N=int(sys.argv[2])
S={"type":"string"}; I={"type":"integer"}
def obj(**p): return {"type":"object","properties":p}
def m(v,atomic=False):
    d={"type":"object","additionalProperties":v}
    if atomic: d["x-kubernetes-map-type"]="atomic"
    return d
def l(i,t,keys=None):
    d={"type":"array","items":i,"x-kubernetes-list-type":t}
    if keys: d["x-kubernetes-list-map-keys"]=keys
    return d
item=obj(name=S,value=S,tags=l(S,"set"))
port=obj(port=I,protocol={"type":"string","default":"TCP"},name=S)
spec=obj(text=S,number=I,group=obj(a=S,b=S),map=m(S),nested=m(m(S)),atomicMap=m(S,True),set=l(S,"set"),
  items=l(item,"map",["name"]),ports=l(port,"map",["port","protocol"]),atomicList=l(item,"atomic"),
  any={"type":"object","x-kubernetes-preserve-unknown-fields":True})
meta=obj(name=S,uid=S,labels=m(S),annotations=m(S),managedFields=l({"type":"object","x-kubernetes-preserve-unknown-fields":True},"atomic"))
thing=obj(apiVersion=S,kind=S,metadata=meta,spec=spec,status=obj(text=S))
thing["x-kubernetes-group-version-kind"]=[{"group":"ex.io","version":"v1","kind":"Thing"}]
R=random
def text(): return R.choice("abc")
def mp(): return {R.choice("abc"):text() for _ in range(R.randint(0,3))}
def names(k=5): 
    x=list("abcde"); R.shuffle(x); return x[:R.randint(0,k)]
def anyv(d=0):
    r=R.random()
    if r<.25: return text()
    if r<.35: return R.randint(0,2)
    if r<.5: return [R.randint(0,1)]
    if r<.55: return None
    if d>1: return True
    return {R.choice("pqr"):anyv(d+1) for _ in range(R.randint(0,3))}
def anyo():
    return {R.choice("pqr"):anyv() for _ in range(R.randint(0,3))}
def gspec(put):
    o={}
    def maybe(p,k,f):
        if R.random()<p: o[k]=f()
    def nullable(f): return lambda: None if R.random()<.06 else f()
    maybe(.4,"text",nullable(text)); maybe(.3,"number",lambda:R.randint(1,3))
    maybe(.35,"group",nullable(lambda:{k:text() for k in names(2) if k in "ab"}))
    maybe(.4,"map",nullable(mp)); maybe(.3,"nested",lambda:{R.choice("xy"):mp() for _ in range(R.randint(0,2))})
    maybe(.3,"atomicMap",nullable(mp)); 
    def st():
        x=names()
        if put and R.random()<.15 and x: x.append(R.choice(x))
        return x
    maybe(.4,"set",nullable(st))
    def its():
        out=[]
        for n in names():
            i={"name":n}
            if R.random()<.6: i["value"]=text()
            if R.random()<.4: i["tags"]=names(2)
            out.append(i)
        if put and R.random()<.15 and out:
            d=dict(R.choice(out)); d["value"]=text(); out.append(d)
        return out
    maybe(.5,"items",nullable(its))
    def pts():
        out=[];seen=set()
        for _ in range(R.randint(0,4)):
            p={"port":R.choice([80,443,9])}
            if R.random()<.6: p["protocol"]=R.choice(["TCP","UDP"])
            if R.random()<.5: p["name"]=text()
            k=(p["port"],p.get("protocol","TCP"))
            if k in seen and not (put and R.random()<.3): continue
            seen.add(k); out.append(p)
        return out
    maybe(.4,"ports",nullable(pts)); maybe(.3,"atomicList",its_plain)
    maybe(.4,"any",nullable(anyo))
    return o
def its_plain(): return [{"name":n} for n in names(2)]
sc=[]
for _ in range(N):
    steps=[]
    for i in range(R.randint(2,6)):
        op=R.choice(["apply","apply","force","put"])
        s=gspec(op=="put")
        if steps and R.random()<.15: s=steps[-1]["spec"]
        steps.append({"op":op,"manager":R.choice(["m1","m2","m3"]),"spec":s})
    sc.append(steps)
json.dump({"schemas":{"ex.Thing":thing},"scenarios":sc},sys.stdout)
